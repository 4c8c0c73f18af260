import { setImmediate as nextTurn } from "node:timers/promises";
import { formatBytes } from "../../core/text/bytes.ts";
import { messageOf } from "../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { jsonSize, MAX_JSON_DEPTH } from "../../core/json/json-size.ts";
import type { ServerSelf, SourceFeatures } from "../../core/sources/records.ts";
import { findParamHeaders } from "../../wire/modern/param-headers.ts";
import { mustBe } from "../../wire/shapes/shape.ts";
import { passableCapabilities } from "../connection/capabilities.ts";
import type { Connection } from "../connection/connection.ts";
import { failureOf } from "../faults.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** A server's lists as it returned them. Only unusable entries are removed, each with a problem. */
export interface ServerListing {
  readonly tools: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly instructions?: string;
  readonly features: SourceFeatures;
  readonly server?: ServerSelf;
  readonly problems: readonly ListingProblem[];
  /** True if the server marked one of its lists, or its info, as private to one caller. @default false */
  readonly isPrivate?: boolean;
  /** Lifetime of the lists in milliseconds as the server declared it; absent: not declared. */
  readonly ttlMs?: number;
}

export interface ListingProblem {
  readonly subject: string;
  readonly message: string;
  /** True if the entry is offered without its faulty part. @default false */
  readonly repaired?: boolean;
  /** True if the definition has changed since it was last read. @default false */
  readonly changed?: boolean;
}

export interface ListingBounds {
  /** Maximum number of pages of one list. */
  readonly maxPages: number;
  /** Maximum number of entries in one list. */
  readonly maxEntries: number;
  /** Approximate maximum size of the JSON text of one list's entries. */
  readonly maxBytes: number;
}

export const LISTING_BOUNDS: ListingBounds = Object.freeze({
  maxPages: 1000,
  maxEntries: 50_000,
  maxBytes: 64 * 1024 * 1024,
});

/** Maximum number of characters of a server's instructions that are kept. */
const MAX_INSTRUCTION_CHARS = 20_000;
/** Approximate maximum size of the JSON text of a server's info. Icons in it may be large images. */
const MAX_SELF_BYTES = 256 * 1024;

interface ListMethod {
  readonly capability: "tools" | "resources" | "prompts";
  readonly method: string;
  readonly member: string;
  readonly key: string;
  /** True if a server with the capability may still not know this method. */
  readonly optional?: boolean;
}

const KINDS = {
  tools: { capability: "tools", method: "tools/list", member: "tools", key: "name" },
  resources: { capability: "resources", method: "resources/list", member: "resources", key: "uri" },
  templates: {
    capability: "resources",
    method: "resources/templates/list",
    member: "resourceTemplates",
    key: "uriTemplate",
    optional: true,
  },
  prompts: { capability: "prompts", method: "prompts/list", member: "prompts", key: "name" },
} as const satisfies Record<string, ListMethod>;

interface ReadList {
  readonly entries: readonly JsonObject[];
  readonly problems: readonly ListingProblem[];
  readonly isPrivate?: boolean;
  readonly ttlMs?: number;
}

const EMPTY: ReadList = Object.freeze({ entries: [], problems: [] });

/**
 * Reads all pages of all lists that the server declares. If a server declares no capability, like small handwritten
 * servers, its tools are read. If a capability is unclear (`"tools": null`), its list is read. In these two cases, an
 * error means that there is no such list. A list that fails is empty with a problem. If all lists fail, rejects with
 * the first `FailError`.
 */
export async function readListing(
  connection: Connection,
  bounds: ListingBounds,
  signal: AbortSignal,
): Promise<ServerListing> {
  const { capabilities, instructions, serverInfo, unclear, faults } = connection.era;
  const failures: unknown[] = [];
  const isSilent = Object.keys(capabilities).length === 0 && unclear.size === 0;
  const offered = Object.values(KINDS).filter((kind) => objectMember(capabilities, kind.capability));
  const read = async (kind: ListMethod): Promise<ReadList> => {
    const isGuess = unclear.has(kind.capability) || (isSilent && kind === KINDS.tools);
    if (!isGuess && !objectMember(capabilities, kind.capability)) return EMPTY;
    try {
      return await readList(kind, bounds, (method, params) => connection.request(method, params, signal));
    } catch (error) {
      if (isGuess && failureOf(error).rpcError) return EMPTY;
      failures.push(error);
      return kind.optional
        ? EMPTY
        : {
            entries: [],
            problems: [{ subject: kind.method, message: `The list could not be read: ${messageOf(error)}` }],
          };
    }
  };
  const [tools, resources, templates, prompts] = await Promise.all([
    read(KINDS.tools),
    read(KINDS.resources),
    read(KINDS.templates),
    read(KINDS.prompts),
  ]);
  if (failures.length > 0 && (failures.length >= offered.length || connection.closed)) throw failures[0];
  // The list is checked in a separate turn of the event loop, because it may be large. It was parsed in this turn.
  await nextTurn();
  const checked = checkTools(tools.entries, connection);
  const self = selfOf(serverInfo, capabilities);
  const ttls = [tools, resources, templates, prompts].flatMap(({ ttlMs }) => (ttlMs === undefined ? [] : [ttlMs]));
  return {
    tools: checked.entries,
    resources: resources.entries,
    templates: templates.entries,
    prompts: prompts.entries,
    ...(instructions !== undefined && { instructions: firstChars(instructions, MAX_INSTRUCTION_CHARS) }),
    features: featuresOf(capabilities),
    ...((connection.era.isPrivate || [tools, resources, templates, prompts].some(({ isPrivate }) => isPrivate)) && {
      isPrivate: true,
    }),
    ...(self.server && { server: self.server }),
    problems: [
      ...faults.map((fault) => ({ ...fault, repaired: true })),
      ...self.problems,
      ...tools.problems,
      ...checked.problems,
      ...resources.problems,
      ...templates.problems,
      ...prompts.problems,
    ],
    ...(ttls.length > 0 && { ttlMs: Math.min(...ttls) }),
  };
}

async function readList(
  kind: ListMethod,
  bounds: ListingBounds,
  request: (method: string, params: JsonObject) => Promise<JsonObject>,
): Promise<ReadList> {
  const list = new GrowingList(kind, bounds);
  let ttlMs: number | undefined;
  let isPrivate = false;
  let cursor: Cursor | undefined;
  do {
    const page = await request(kind.method, cursor === undefined ? {} : { cursor });
    // The page is checked in a separate turn of the event loop, because it may be large. It was parsed in this turn.
    await nextTurn();
    list.add(page[kind.member]);
    ttlMs = shorter(ttlMs, ttlOf(page));
    isPrivate ||= page["cacheScope"] === "private";
    cursor = list.cursorOf(page);
  } while (cursor !== undefined && list.goesOnAt(cursor));
  return {
    entries: list.entries,
    problems: list.problems,
    ...(isPrivate && { isPrivate }),
    ...(ttlMs !== undefined && { ttlMs }),
  };
}

/** The position for the next page, opaque to the hub. */
type Cursor = string | number | bigint;

/** One list while its pages are read. */
class GrowingList {
  readonly problems: ListingProblem[] = [];
  readonly #kind: ListMethod;
  readonly #bounds: ListingBounds;
  readonly #entries = new Map<string, JsonObject>();
  readonly #cursors = new Set<Cursor>();
  #bytes = 0;
  #hasFaultyCursor = false;

  constructor(kind: ListMethod, bounds: ListingBounds) {
    this.#kind = kind;
    this.#bounds = bounds;
  }

  get entries(): JsonObject[] {
    return [...this.#entries.values()].slice(0, this.#bounds.maxEntries);
  }

  /** Adds a page's entries. */
  add(page: unknown): void {
    const { member } = this.#kind;
    if (Array.isArray(page)) for (const [index, entry] of page.entries()) this.#addEntry(entry, `${member}[${index}]`);
    else this.#report(member, `The server's list \`${member}\` is not an array.`);
  }

  /**
   * Returns the cursor of the next page as the server sent it. Numbers are accepted, although the protocol requires
   * text.
   */
  cursorOf({ nextCursor }: JsonObject): Cursor | undefined {
    if (nextCursor === undefined || nextCursor === null || typeof nextCursor === "string")
      return nextCursor ?? undefined;
    const isNumber = typeof nextCursor === "number" || typeof nextCursor === "bigint";
    const end = isNumber ? "it is returned unchanged" : "the list ends there";
    const message = `${mustBe("nextCursor", "text", nextCursor)}: ${end}.`;
    if (!this.#hasFaultyCursor) this.problems.push({ subject: this.#kind.method, message, repaired: isNumber });
    this.#hasFaultyCursor = true;
    return isNumber ? nextCursor : undefined;
  }

  /** Returns whether the page after this cursor must be read. If not, a problem contains the reason. */
  goesOnAt(cursor: Cursor): boolean {
    const stop = this.#whyStopAt(cursor);
    if (stop !== undefined) this.#report(this.#kind.method, stop);
    this.#cursors.add(cursor);
    return stop === undefined;
  }

  #addEntry(entry: unknown, place: string): void {
    const { key } = this.#kind;
    const size = jsonSize(entry);
    if (size === Infinity)
      return this.#report(place, `It is nested deeper than ${MAX_JSON_DEPTH} levels; it was left out.`);
    this.#bytes += size;
    const id = isJsonObject(entry) ? stringMember(entry, key) : undefined;
    if (id === undefined || id === "") this.#report(place, `It has no \`${key}\`; it was left out.`);
    else if (this.#entries.has(id)) this.#report(id, "It is listed twice; the first one counts.");
    else this.#entries.set(id, entry as JsonObject);
  }

  #whyStopAt(cursor: Cursor): string | undefined {
    const { maxPages, maxEntries, maxBytes } = this.#bounds;
    if (this.#cursors.has(cursor)) return "The server repeats the same cursor; the entries listed so far are kept.";
    if (this.#cursors.size + 1 >= maxPages)
      return `The list has more than ${maxPages} pages; the earlier entries are kept.`;
    if (this.#entries.size >= maxEntries)
      return `The list has more than ${maxEntries} entries; the first ${maxEntries} are kept.`;
    if (this.#bytes >= maxBytes) return `The list is over ${formatBytes(maxBytes)}; the earlier entries are kept.`;
    return undefined;
  }

  #report(subject: string, message: string): void {
    this.problems.push({ subject, message });
  }
}

// The declared lifetime also applies to a server that announces changes, because notifications may be lost and some
// servers send them in one era only.
function ttlOf({ ttlMs }: JsonObject): number | undefined {
  return typeof ttlMs === "number" && ttlMs >= 0 ? ttlMs : undefined;
}

function shorter(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || second === undefined ? (first ?? second) : Math.min(first, second);
}

/** Removes tools that this connection cannot serve. The catalog removes those that no client may see. */
function checkTools(
  tools: readonly JsonObject[],
  { era, mirrorsParams }: Connection,
): { entries: readonly JsonObject[]; problems: ListingProblem[] } {
  const problems: ListingProblem[] = [];
  const report = (tool: JsonObject, message: string): void =>
    void problems.push({ subject: String(tool["name"]), message });
  if (era.name === "legacy") return { entries: tools.map((tool) => withLegacyOutput(tool, report)), problems };
  if (!mirrorsParams) return { entries: tools, problems };
  const entries = tools.filter((tool) => {
    const headers = findParamHeaders(objectMember(tool, "inputSchema") ?? {});
    if (!headers.ok) report(tool, `It cannot be called over HTTP: ${headers.reason}. It was left out.`);
    return headers.ok;
  });
  return { entries, problems };
}

/**
 * Removes an output schema of a type other than object, and reports it, because legacy revisions allow only objects as
 * structured content.
 */
function withLegacyOutput(tool: JsonObject, report: (tool: JsonObject, message: string) => void): JsonObject {
  const schema = objectMember(tool, "outputSchema");
  if (!schema || schema["type"] === "object") return tool;
  report(tool, "Its `outputSchema` is not of type object; the tool is offered without it.");
  const { outputSchema: _dropped, ...rest } = tool;
  return rest;
}

function featuresOf(capabilities: JsonObject): SourceFeatures {
  return {
    completions: objectMember(capabilities, "completions") !== undefined,
    subscribe: objectMember(capabilities, "resources")?.["subscribe"] === true,
    logging: objectMember(capabilities, "logging") !== undefined,
  };
}

function selfOf(
  info: JsonObject,
  declared: JsonObject,
): { readonly server?: ServerSelf; readonly problems: readonly ListingProblem[] } {
  const server = { info, capabilities: passableCapabilities(declared) };
  if (jsonSize(server, MAX_SELF_BYTES) <= MAX_SELF_BYTES) return { server, problems: [] };
  const message = `The server info is over ${formatBytes(MAX_SELF_BYTES)}; it is not shown.`;
  return { problems: [{ subject: "serverInfo", message }] };
}
