import { LOCAL_PRINCIPAL, type Principal, type ToolMode } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { PROFILES } from "../../core/services.ts";
import { estimateTokens } from "../../core/text/token-estimate.ts";
import type { Hub } from "../../hub/hub.ts";
import { localWithin } from "../../hub/serve/local-profile.ts";
import { getService } from "../../kernel/start-features.ts";
import { definitionTokens, listTokens } from "./definition-tokens.ts";

/** The tool list of one kind of client. */
export interface ListCost {
  /** Absent: a client of the whole hub. */
  readonly profile?: string;
  readonly tools: number;
  readonly tokens: number;
  /** Tokens of the list in discovery mode, for the same client. */
  readonly discoveryTokens: number;
}

export interface SourceCost {
  readonly source: string;
  readonly tools: number;
  readonly tokens: number;
}

export interface ToolCost {
  readonly name: string;
  readonly source: string;
  readonly tokens: number;
  readonly descriptionTokens: number;
}

export interface TokenReport {
  readonly lists: readonly ListCost[];
  readonly sources: readonly SourceCost[];
  readonly tools: readonly ToolCost[];
}

/** Maximum number of tools in the report, more than any hub has. */
const ALL_TOOLS = 100_000;

/** Returns the cost of the tool lists, of the sources, and of the tools with the longest definitions. */
export async function createTokenReport(hub: Hub, limit: number): Promise<TokenReport> {
  const lists: ListCost[] = [await listCost(hub, LOCAL_PRINCIPAL)];
  for (const { name } of getService(hub.services, PROFILES).all)
    lists.push({ profile: name, ...(await listCost(hub, localWithin(hub, name))) });
  const tools = await toolCosts(hub);
  return { lists, sources: sourceCosts(tools), tools: tools.slice(0, limit) };
}

async function listCost(hub: Hub, principal: Principal): Promise<Omit<ListCost, "profile">> {
  const entries = async (mode: ToolMode): Promise<readonly JsonObject[]> =>
    (await hub.port.list("tools", { mode, principal })).entries;
  const normal = await entries("normal");
  return { tools: normal.length, tokens: listTokens(normal), discoveryTokens: listTokens(await entries("discovery")) };
}

async function toolCosts(hub: Hub): Promise<readonly ToolCost[]> {
  const view = { mode: "all", principal: LOCAL_PRINCIPAL } as const;
  const { hits } = await hub.tools.search("", view, { limit: ALL_TOOLS });
  return hits
    .map(({ name, server: source, description, inputSchema }) => ({
      name,
      source,
      tokens: definitionTokens({ name, description, inputSchema }),
      descriptionTokens: estimateTokens(description),
    }))
    .toSorted((a, b) => b.tokens - a.tokens);
}

function sourceCosts(tools: readonly ToolCost[]): readonly SourceCost[] {
  const bySource = new Map<string, { source: string; tools: number; tokens: number }>();
  for (const { source, tokens } of tools) {
    const cost = bySource.get(source) ?? { source, tools: 0, tokens: 0 };
    cost.tools += 1;
    cost.tokens += tokens;
    bySource.set(source, cost);
  }
  return [...bySource.values()].toSorted((a, b) => b.tokens - a.tokens);
}
