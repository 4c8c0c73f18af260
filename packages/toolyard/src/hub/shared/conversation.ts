import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { KIND_META_KEY, KINDS } from "../../core/calls/kinds.ts";
import { claimsModernEra } from "../../wire/modern/envelope.ts";
import { withoutByteOrderMark } from "../../wire/parse-json.ts";

/** Decision whether a line is passed on, and with which text. */
export interface LineDecision {
  /** Line to pass on. Absent: the line is dropped. */
  readonly line?: string;
}

interface OpenRequest {
  readonly id: unknown;
  readonly method: string;
  readonly isModern: boolean;
  /** Line that repeats the request at the next hub. Absent if a second request could have a second effect. */
  readonly again?: string;
  /** Batch that contains the request. All requests of a batch are answered in one batch. */
  readonly batch?: object;
}

/** Methods that may be repeated, because a second request has no further effect. */
const MAY_BE_REPEATED: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  "subscriptions/listen",
]);

/** Prefix of ids of requests that the client did not send itself. */
const OWN_ID = "toolyard-rejoin-";
const LISTS = ["tools", "prompts", "resources"] as const;
/** Maximum number of a client's subscriptions that are repeated when another hub continues its conversation. */
const MAX_SUBSCRIPTIONS = 10_000;

/**
 * State of one client's conversation that another hub needs to continue it: handshake, log level, subscriptions, and
 * pending requests on both sides. Other lines are passed on unchanged.
 */
export class Conversation {
  readonly #open = new Map<string, OpenRequest>();
  /** Ids of server requests that the client has not answered, as the client knows them. */
  readonly #asks = new Set<string>();
  readonly #subscriptions = new Map<string, JsonObject>();
  #initialize: JsonObject | undefined;
  #isOpened = false;
  #initialized: string | undefined;
  #level: JsonObject | undefined;
  #hubs = 1;
  #own = 0;
  #onOpened: (() => void) | undefined;
  #changes: readonly string[] = [];

  /** Handles a line from the client to the hub. */
  fromClient(line: string): LineDecision {
    const value = parse(line);
    if (Array.isArray(value)) {
      const batch = {};
      for (const member of value) if (isJsonObject(member)) this.#note(member, line, batch);
      return { line };
    }
    if (!isJsonObject(value)) return { line };
    if (isReply(value)) return this.#answer(value, line);
    this.#note(value, line);
    return { line };
  }

  /** Handles a line from the hub to the client. */
  fromHub(line: string): LineDecision {
    const value = parse(line);
    if (Array.isArray(value)) {
      for (const member of value) if (isJsonObject(member) && isReply(member)) this.#open.delete(keyOf(member["id"]));
      return { line };
    }
    if (!isJsonObject(value) || value["id"] === undefined || value["id"] === null) return { line };
    if (typeof value["method"] === "string") return this.#ask(value, line);
    return this.#reply(value, line);
  }

  /**
   * Returns messages to the client after the hub has exited: failures of the client's calls, and cancellations of the
   * hub's server requests.
   */
  lost(): readonly string[] {
    const lines = [...this.#asks].map((id) =>
      notification("notifications/cancelled", { requestId: parseExact(id) as unknown, reason: ENDED }),
    );
    this.#asks.clear();
    return [...lines, ...this.#endOpen(({ again }) => again === undefined, ENDED)];
  }

  /** Returns messages to the client if there is no next hub: failures of all pending requests. */
  abandoned(reason: string): readonly string[] {
    return this.#endOpen(() => true, reason);
  }

  /**
   * Returns the messages that restore the conversation at the next hub. `first` is sent first; `rest` after `opened`
   * has resolved.
   */
  resume(): { readonly first?: string; readonly opened: Promise<void>; readonly rest: () => readonly string[] } {
    this.#hubs += 1;
    if (!this.#initialize || !this.#isOpened) return { opened: Promise.resolve(), rest: () => this.#repeated() };
    const opened = new Promise<void>((resolve) => (this.#onOpened = resolve));
    return {
      first: this.#ownRequest(this.#initialize),
      opened,
      rest: () => [
        ...(this.#initialized === undefined ? [] : [this.#initialized]),
        ...(this.#level ? [this.#ownRequest(this.#level)] : []),
        ...Array.from(this.#subscriptions.values(), (request) => this.#ownRequest(request)),
        ...this.#repeated(),
      ],
    };
  }

  /**
   * Returns messages to the client after the next hub has taken over: notifications of changed lists, because its lists
   * may differ.
   */
  changes(): readonly string[] {
    return this.#changes.map((list) => notification(`notifications/${list}/list_changed`));
  }

  #repeated(): readonly string[] {
    return Array.from(this.#open.values(), ({ again }) => again).filter((line) => line !== undefined);
  }

  #note(message: JsonObject, line: string, batch?: object): void {
    const { id, method, params } = message;
    if (typeof method !== "string") return;
    if (method === "notifications/cancelled" && isJsonObject(params))
      return void this.#open.delete(keyOf(params["requestId"]));
    if (method === "notifications/initialized") this.#initialized = line;
    if (id === undefined || id === null) return;
    this.#noteLasting(method, message);
    this.#open.set(keyOf(id), {
      id,
      method,
      isModern: claimsModernEra(params),
      ...(batch ? { batch } : MAY_BE_REPEATED.has(method) ? { again: line } : {}),
    });
  }

  /** Records state that the next hub needs. */
  #noteLasting(method: string, message: JsonObject): void {
    const { params } = message;
    if (method === "initialize") this.#initialize = message;
    if (method === "logging/setLevel") this.#level = message;
    if (method === "resources/subscribe" && this.#subscriptions.size < MAX_SUBSCRIPTIONS)
      this.#subscriptions.set(uriOf(params), message);
    if (method === "resources/unsubscribe") this.#subscriptions.delete(uriOf(params));
  }

  /** Handles an answer of the client to a server request. Drops it if the hub that sent the request has exited. */
  #answer(message: JsonObject, line: string): LineDecision {
    const { id } = message;
    if (!this.#asks.delete(keyOf(id))) return {};
    if (this.#hubs === 1) return { line };
    return { line: stringifyExact({ ...message, id: parseExact(String(id).slice(String(id).indexOf("/") + 1)) }) };
  }

  /**
   * Handles a server request. Its id is changed for later hubs: each hub counts its ids from the start, and an answer
   * to an earlier hub's request must not match a request of this hub.
   */
  #ask(message: JsonObject, line: string): LineDecision {
    if (this.#hubs === 1) {
      this.#asks.add(keyOf(message["id"]));
      return { line };
    }
    const id = `${this.#hubs}/${stringifyExact(message["id"])}`;
    this.#asks.add(keyOf(id));
    return { line: stringifyExact({ ...message, id }) };
  }

  #reply(message: JsonObject, line: string): LineDecision {
    const { id, result } = message;
    if (typeof id === "string" && id.startsWith(OWN_ID)) {
      this.#noteOpened(result);
      return {};
    }
    const open = this.#open.get(keyOf(id));
    this.#open.delete(keyOf(id));
    if (open?.method === "initialize" && isJsonObject(result)) this.#isOpened = true;
    return { line };
  }

  #noteOpened(result: unknown): void {
    if (!this.#onOpened) return;
    const capabilities = isJsonObject(result) && isJsonObject(result["capabilities"]) ? result["capabilities"] : {};
    this.#changes = LISTS.filter((list) => {
      const own = capabilities[list];
      return isJsonObject(own) && own["listChanged"] === true;
    });
    this.#onOpened();
    this.#onOpened = undefined;
  }

  #ownRequest(message: JsonObject): string {
    this.#own += 1;
    return stringifyExact({ ...message, id: `${OWN_ID}${this.#own}` });
  }

  #endOpen(ends: (open: OpenRequest) => boolean, reason: string): readonly string[] {
    const single: string[] = [];
    const batches = new Map<object, JsonObject[]>();
    for (const [key, open] of this.#open) {
      if (!ends(open)) continue;
      this.#open.delete(key);
      const answer = failure(open, reason);
      if (open.batch) batches.set(open.batch, [...(batches.get(open.batch) ?? []), answer]);
      else single.push(stringifyExact(answer));
    }
    return [...single, ...Array.from(batches.values(), (answers) => stringifyExact(answers))];
  }
}

const ENDED =
  "The hub ended while this was running, so whether it took effect is not known. " +
  "The next hub serves later requests.";

function failure({ id, method, isModern }: OpenRequest, reason: string): JsonObject {
  const _meta = { [KIND_META_KEY]: "unavailable" };
  if (method !== "tools/call")
    return { jsonrpc: "2.0", id, error: { code: KINDS.unavailable.jsonrpc, message: reason, data: _meta } };
  const result = { content: [{ type: "text", text: reason }], isError: true, _meta };
  return { jsonrpc: "2.0", id, result: isModern ? { ...result, resultType: "complete" } : result };
}

function notification(method: string, params?: JsonObject): string {
  return stringifyExact({ jsonrpc: "2.0", method, ...(params ? { params } : {}) });
}

function isReply(message: JsonObject): boolean {
  return message["method"] === undefined && message["id"] !== undefined && ("result" in message || "error" in message);
}

/** Returns a key for a request id. Ids are strings or numbers, and 1 differs from "1". */
function keyOf(id: unknown): string {
  return stringifyExact(id) ?? "null";
}

function uriOf(params: unknown): string {
  return isJsonObject(params) ? String(params["uri"]) : "";
}

function parse(line: string): unknown {
  try {
    return parseExact(withoutByteOrderMark(line));
  } catch {
    return undefined;
  }
}
