// Expected replies, derived from JSON-RPC and not from the hub's code: one reply for each request, with its id, and one
// for each invalid message; none for notifications and replies.
import { isJsonObject } from "../../packages/toolyard/src/core/json/json.ts";

export type Id = string | number | null;

export interface ExpectedReplies {
  /** Requests: each gets exactly one reply. */
  readonly requests: readonly Id[];
  /** Invalid messages: each gets one reply, with this id or with null. */
  readonly invalid: readonly Id[];
}

/** Limits of the hub: it refuses a message beyond them as a whole. */
const MAX_DEPTH = 128;
const MAX_BATCH = 100;
const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";

const NOTHING: ExpectedReplies = { requests: [], invalid: [] };
const UNREADABLE: ExpectedReplies = { requests: [], invalid: [null] };

export function expectedOf(text: string): ExpectedReplies {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return UNREADABLE;
  }
  if (isDeeperThan(MAX_DEPTH, value)) return UNREADABLE;
  if (!Array.isArray(value)) return expectedOfMessage(value);
  // The modern era has no batches.
  const isRefused = value.length === 0 || value.length > MAX_BATCH || value.some(namesRevision);
  return isRefused ? UNREADABLE : join(value.map(expectedOfMessage));
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}

function namesRevision(message: unknown): boolean {
  const params = isJsonObject(message) ? message["params"] : undefined;
  const meta = isJsonObject(params) ? params["_meta"] : undefined;
  return isJsonObject(meta) && REVISION_KEY in meta;
}

export function join(all: readonly ExpectedReplies[]): ExpectedReplies {
  return { requests: all.flatMap(({ requests }) => requests), invalid: all.flatMap(({ invalid }) => invalid) };
}

// oxlint-disable-next-line complexity -- One line per rule of JSON-RPC.
function expectedOfMessage(value: unknown): ExpectedReplies {
  if (!isJsonObject(value)) return UNREADABLE;
  const id =
    typeof value["id"] === "string" || (typeof value["id"] === "number" && Number.isFinite(value["id"]))
      ? value["id"]
      : null;
  const invalid: ExpectedReplies = { requests: [], invalid: [id] };
  if (value["jsonrpc"] !== "2.0") return invalid;
  if (!("method" in value)) return isReply(value, id) ? NOTHING : invalid;
  if (typeof value["method"] !== "string") return invalid;
  if (value["params"] !== undefined && !isJsonObject(value["params"])) return invalid;
  if (!("id" in value)) return NOTHING;
  return id === null ? invalid : { requests: [id], invalid: [] };
}

function isReply(value: Record<string, unknown>, id: Id): boolean {
  const { error } = value;
  const isError = isJsonObject(error) && typeof error["code"] === "number" && typeof error["message"] === "string";
  if (id === null) return isError && (value["id"] === null || !("id" in value));
  const result = value["result"];
  // PHP serialises an empty object as an empty list.
  return isError || isJsonObject(result) || (Array.isArray(result) && result.length === 0);
}

/** Returns the fault of these replies, if any. */
export function compare(expected: ExpectedReplies, replies: readonly Id[]): string | undefined {
  const left = [...replies];
  const take = (id: Id): boolean => {
    const at = left.indexOf(id);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  };
  const missing = expected.requests.filter((id) => !take(id));
  const unanswered = expected.invalid.filter((id) => !take(id) && !take(null));
  if (missing.length + unanswered.length + left.length === 0) return undefined;
  return (
    `no reply for ${JSON.stringify(missing)}, none for ${unanswered.length} that are no messages; ` +
    `too many: ${JSON.stringify(left)}`
  );
}

export const countOf = ({ requests, invalid }: ExpectedReplies): number => requests.length + invalid.length;
