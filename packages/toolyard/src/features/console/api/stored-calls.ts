import { OptionError } from "../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import { createFilter, type AuditFilterOptions } from "../../../telemetry/audit/audit-filter.ts";
import { openRecentLines } from "../../../telemetry/audit/read-lines.ts";
import { rotatedFiles } from "../../../telemetry/audit/rotating-file.ts";
import type { ConsoleParts } from "../parts.ts";
import type { StoredCalls } from "../task-types.ts";
import { readCount, type AdminRequest, type AdminRoute } from "./route.ts";

/** Size of the newest part of the audit that one search reads. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
/**
 * Maximum number of concurrent searches, separately for callers with full rights and for callers with narrowed rights.
 */
const MAX_SEARCHES = 2;
const MAX_ENTRIES = 1000;
const FILTERS = ["event", "principal", "client", "tool", "source", "outcome", "since", "until"] as const;

type StoredParts = Pick<ConsoleParts, "hubControl" | "redactFacts">;

/** Searches the file of the audit. */
export class StoredCallRoutes {
  readonly #parts: StoredParts;
  readonly #searches = { full: 0, narrowed: 0 };

  constructor(parts: StoredParts) {
    this.#parts = parts;
  }

  get routes(): readonly AdminRoute[] {
    return [
      {
        method: "GET",
        path: "calls/stored",
        needs: "any",
        summary: "Entries in the file of the audit, newest first, filtered as by `toolyard audit search`.",
        handle: (request) => this.#search(request),
      },
    ];
  }

  async #search(request: AdminRequest): Promise<StoredCalls> {
    const file = this.#file();
    if (file === undefined) return { hasAudit: false, entries: [], isPart: false };
    const rights = request.caller.seesAll ? "full" : "narrowed";
    if (this.#searches[rights] >= MAX_SEARCHES)
      throw new Refusal(503, "Other searches are running. Try again in a moment.", { "retry-after": "2" });
    this.#searches[rights] += 1;
    try {
      return await this.#read(file, request);
    } finally {
      this.#searches[rights] -= 1;
    }
  }

  #file(): string | undefined {
    const audit = this.#parts.hubControl().tree["audit"];
    const file = isJsonObject(audit) ? audit["file"] : undefined;
    return typeof file === "string" ? file : undefined;
  }

  /** A caller with narrowed rights gets only its own calls. */
  async #read(file: string, { query, caller, exchange }: AdminRequest): Promise<StoredCalls> {
    const limit = readCount(query, "limit", { usual: 200, most: MAX_ENTRIES });
    const filter = filterOf(query);
    const isShown = (entry: JsonObject): boolean =>
      caller.seesAll || ((entry["event"] ?? "call") === "call" && entry["principal"] === caller.principal.id);
    const files = [...(await rotatedFiles(file)), file];
    const read = await openRecentLines(files, { maxBytes: MAX_READ_BYTES, signal: exchange.signal });
    const found: JsonObject[] = [];
    for await (const { text } of read.lines) {
      const entry = filter(text);
      if (!entry || !isShown(entry)) continue;
      found.push(entry);
      if (found.length > limit) found.shift();
    }
    return {
      hasAudit: true,
      entries: found.toReversed().map((entry) => this.#parts.redactFacts(entry)),
      isPart: read.isPart,
    };
  }
}

function filterOf(query: URLSearchParams): ReturnType<typeof createFilter> {
  const given = FILTERS.flatMap((name) => {
    const value = query.get(name)?.trim() ?? "";
    return value === "" ? [] : [[name, value]];
  });
  try {
    return createFilter(Object.fromEntries(given) as AuditFilterOptions);
  } catch (error) {
    if (error instanceof OptionError) throw new Refusal(400, error.message.replaceAll("--", ""));
    throw error;
  }
}
