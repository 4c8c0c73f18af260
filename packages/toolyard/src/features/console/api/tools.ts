import { stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { Outcome } from "../../../core/calls/outcome.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { sendFailure } from "../../../endpoints/rest/answer.ts";
import type { Calls } from "../../../endpoints/rest/calls.ts";
import type { ToolDetail, ToolList, ToolRow } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import { readCount, type AdminRequest, type AdminRoute } from "./route.ts";

const MAX_PAGE = 500;
const MAX_HITS = 100;
const MAX_SUMMARY_CHARS = 300;

/** Lists, searches and calls tools with the rights of the caller. */
export class ToolRoutes {
  readonly #parts: ConsoleParts;
  readonly #calls: Calls;

  constructor(parts: ConsoleParts, calls: Calls) {
    this.#parts = parts;
    this.#calls = calls;
  }

  get routes(): readonly AdminRoute[] {
    return [
      {
        method: "GET",
        path: "tools",
        needs: "any",
        summary: "A page of the tools, or the hits of a search.",
        handle: (request) => this.#list(request),
      },
      { method: "GET", path: "tools/*", needs: "any", summary: "One tool.", handle: (request) => this.#one(request) },
      {
        method: "POST",
        path: "tools/*",
        needs: "any",
        summary: "Calls a tool.",
        handle: (request) => this.#run(request),
      },
    ];
  }

  async #list({ query, view }: AdminRequest): Promise<ToolList> {
    const words = query.get("query")?.trim() ?? "";
    const server = query.get("server");
    if (words !== "") return this.#search(words, { server, view });
    const all = await this.#parts.hub.list("tools", view, { waits: false });
    const offset = readCount(query, "offset", { usual: 0, most: 1_000_000 });
    const limit = readCount(query, "limit", { usual: MAX_PAGE, most: MAX_PAGE });
    const sourceOf = ({ name }: JsonObject): string | undefined =>
      this.#parts.tools.sourceOf(String(name), view.principal);
    const entries = server === null ? all.entries : all.entries.filter((entry) => sourceOf(entry) === server);
    const tools = entries.slice(offset, offset + limit).map((entry) => toRow(entry, sourceOf(entry)));
    return { tools, total: entries.length, offset, version: all.version };
  }

  /** Searches with the same ranking as `tool_search`. */
  async #search(
    words: string,
    { server, view }: Pick<AdminRequest, "view"> & { readonly server: string | null },
  ): Promise<ToolList> {
    const bounds = { limit: MAX_HITS, why: true, nearest: true, ...(server !== null && { server }) };
    const { hits, total, instead } = await this.#parts.tools.search(words, view, bounds);
    const tools = hits.map(({ name, server: source, description, score, why }) => ({
      name,
      description: firstChars(description, MAX_SUMMARY_CHARS),
      source,
      score,
      ...(why && { why }),
    }));
    return { tools, total, offset: 0, version: "", ...(instead && { near: instead.near }) };
  }

  async #one({ names: [name = ""], view, exchange }: AdminRequest): Promise<ToolDetail | undefined> {
    const found = await this.#parts.tools.describeTool(name, view);
    if (!found.found) {
      sendFailure(exchange.answer, found.failure);
      return undefined;
    }
    const shown = String(found.entry["name"]);
    const source = this.#parts.tools.sourceOf(shown, view.principal);
    return {
      name: shown,
      ...(source !== undefined && { source }),
      definition: found.entry,
      calls: this.#parts.recentCalls?.ofTool(shown) ?? { calls: 0, errors: 0 },
    };
  }

  async #run({ names: [name = ""], exchange, view }: AdminRequest): Promise<void> {
    const args = await exchange.readObject("the tool's arguments");
    await answer(exchange, () => this.#calls.run({ method: "tools/call", target: name, args }, view, exchange));
  }
}

/** Runs a call and sends its result with its duration. */
export async function answer(exchange: AdminRequest["exchange"], work: () => Promise<Outcome>): Promise<void> {
  const startedAt = performance.now();
  const outcome = await work();
  if (!outcome.ok) return exchange.fail(outcome, true);
  exchange.succeed({ result: outcome.result, durationMs: Math.round((performance.now() - startedAt) * 10) / 10 });
}

function toRow(entry: JsonObject, source: string | undefined): ToolRow {
  const title = stringMember(entry, "title");
  return {
    name: String(entry["name"]),
    ...(title !== undefined && { title: firstChars(title, MAX_SUMMARY_CHARS) }),
    description: firstChars(stringMember(entry, "description") ?? "", MAX_SUMMARY_CHARS),
    ...(source !== undefined && { source }),
  };
}
