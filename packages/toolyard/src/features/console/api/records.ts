import { profileCounts } from "../../../core/ports/profile-counts.ts";
import { describeRights } from "../../../core/ports/rights-text.ts";
import type { CallerRow, CallList, CallRecord, LogList, LogRecord, ProfileRow } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { RecordedCall } from "../recorder/call-record.ts";
import { isFailure } from "../recorder/call-recorder.ts";
import { profileDetail } from "./profile-detail.ts";
import { readCount, type AdminRequest, type AdminRoute } from "./route.ts";

const MAX_LINES = 1000;
const MAX_CALLS = 1000;
const LEVELS = ["debug", "info", "warning", "error"] as const;

/** Routes that only read recorded data: calls, log lines and callers. */
export class RecordRoutes {
  readonly #parts: ConsoleParts;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
  }

  get routes(): readonly AdminRoute[] {
    return [
      {
        method: "GET",
        path: "calls",
        needs: "any",
        summary: "The last calls, newest first.",
        handle: (request) => this.#calls(request),
      },
      {
        method: "GET",
        path: "logs",
        needs: "all",
        summary: "The last lines of the log.",
        handle: (request) => this.#logs(request),
      },
      {
        method: "GET",
        path: "profiles",
        needs: "all",
        summary: "The profiles and their content.",
        handle: (request) => this.#profiles(request),
      },
      {
        method: "GET",
        path: "profiles/*",
        needs: "all",
        summary: "What a profile contains, and how clients connect to it.",
        handle: (request) => profileDetail(request, this.#parts),
      },
      {
        method: "GET",
        path: "callers",
        needs: "all",
        summary: "Callers with their programs and calls.",
        handle: (request) => this.#callers(request),
      },
    ];
  }

  /** A caller with narrowed rights gets only its own calls. */
  #calls({ query, caller }: AdminRequest): CallList {
    const limit = readCount(query, "limit", { usual: 200, most: MAX_CALLS });
    const [tool, who, outcome, source] = ["tool", "who", "outcome", "source"].map((name) => query.get(name) ?? "");
    const own = caller.principal.id;
    const words = tool!.toLowerCase();
    const matches = (call: RecordedCall): boolean =>
      (caller.seesAll || call.principal === own) &&
      call.target.toLowerCase().includes(words) &&
      (who === "" || call.principal === who || call.client === who) &&
      (source === "" || call.source === source) &&
      (outcome === "" || call.kind === outcome || (outcome === "failed" && isFailure(call.kind)));
    const { calls, total } = this.#parts.recentCalls?.find(matches, limit) ?? { calls: [], total: 0 };
    // Calls are redacted, because a caller may have sent a secret as the name of a tool.
    return { calls: calls.map((call) => this.#parts.redactFacts({ ...call }) as unknown as CallRecord), total };
  }

  #logs({ query }: AdminRequest): LogList {
    const limit = readCount(query, "limit", { usual: MAX_LINES, most: MAX_LINES });
    const least = LEVELS.indexOf((query.get("level") ?? "debug") as (typeof LEVELS)[number]);
    const [source, text] = [query.get("source") ?? "", (query.get("text") ?? "").toLowerCase()];
    const lines = this.#parts.logFeed
      .lines()
      .filter(
        (line) =>
          LEVELS.indexOf(line.level) >= least &&
          (source === "" || line.source === source) &&
          line.text.toLowerCase().includes(text),
      );
    return { lines: limit === 0 ? [] : lines.slice(-limit).map(toLogRecord) };
  }

  async #profiles({ exchange }: AdminRequest): Promise<{ readonly profiles: readonly ProfileRow[] }> {
    const counts = await profileCounts(this.#parts.profiles, this.#parts.getHub());
    return {
      profiles: this.#parts.profiles.all.map(({ name, title, toolMode, roles, rights }, at) => ({
        ...counts[at]!,
        name,
        ...(title !== undefined && { title }),
        ...(toolMode && { toolMode }),
        ...(roles && { roles }),
        url: `${exchange.http.baseUrl}/mcp/${name}`,
        rights: describeRights(rights).join(", "),
      })),
    };
  }

  /** Callers that are configured but have not called yet come last. */
  #callers(_request: AdminRequest): { readonly callers: readonly CallerRow[] } {
    const called = (this.#parts.recentCalls?.callers() ?? []).toReversed();
    const tokens = tokenNames(this.#parts.hubControl().tree);
    const rows = called.map(({ id, programs, lastCall, ...figures }): CallerRow => ({
      id,
      kind: tokens.includes(id) ? "token" : id === "local" ? "local" : id.includes("|client|") ? "client" : "user",
      name: id.split("|").at(-1)!,
      roles: [],
      calls: figures,
      programs,
      lastCall,
    }));
    const known = new Set(called.map(({ id }) => id));
    const others = tokens
      .filter((name) => !known.has(name))
      .map((name): CallerRow => ({
        id: name,
        kind: "token",
        name,
        roles: [],
        calls: { calls: 0, errors: 0 },
        programs: [],
      }));
    return { callers: [...rows, ...others] };
  }
}

function tokenNames(tree: Readonly<Record<string, unknown>>): readonly string[] {
  const { token, tokens = {} } = (tree["server"] ?? {}) as { readonly token?: string; readonly tokens?: object };
  return [...(token === undefined ? [] : ["token"]), ...Object.keys(tokens)];
}

export function toLogRecord({ number, time, level, text, source }: LogRecord): LogRecord {
  return { number, time, level, text, ...(source !== undefined && { source }) };
}
