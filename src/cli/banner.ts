import { LOCAL_PRINCIPAL } from "../core/call.ts";
import type { JsonObject } from "../core/json.ts";
import type { Hub } from "../hub/open-hub.ts";
import type { ServedHttp } from "../hub/serve.ts";
import type { Io } from "./io.ts";
import { table } from "./table.ts";

/** What `serve` prints: the endpoint, tools by source and visibility, and lines that work as they stand from any folder. */
export async function banner(hub: Hub, { endpoint }: ServedHttp, io: Io): Promise<string> {
  const { default: colors } = await import("picocolors");
  const { bold, cyan, dim } = colors.createColors(io.color);
  await hub.settled(SETTLE_MS);
  const listed = (await hub.list("tools", { mode: "normal", principal: LOCAL_PRINCIPAL })).entries;
  const all = (await hub.list("tools", { mode: "all", principal: LOCAL_PRINCIPAL })).entries;
  return [
    `${bold("toolyard")} serves ${all.length} tools at ${cyan(endpoint)}`,
    "",
    sourceRows(hub),
    "",
    `${listed.length} are listed, the others are found with tool_search. Ask for two tools only with ?tool_mode=discovery.`,
    "",
    dim("# list the tools"),
    curlLine(endpoint),
    dim("# find and call one"),
    `${toolyardCommand()} search "add numbers" --url ${endpoint}`,
    callLine(all, endpoint),
    dim("# a desktop client or editor"),
    clientJson(endpoint),
    "",
    dim("Ctrl+C ends it."),
  ].join("\n");
}

/** Longer than this nobody wants to wait for the first words; who starts later is listed later. */
const SETTLE_MS = 5000;

function sourceRows(hub: Hub): string {
  const rows = hub.sources().map(({ source, status, tools, resources, prompts }) => {
    const { native, ondemand } = hub.visibilities(source.id);
    return [source.id, source.kind, String(native), String(ondemand), String(resources), String(prompts), tools === 0 && status.lastError ? `${status.state}: ${status.lastError}` : status.state];
  });
  return table(["source", "kind", "native", "ondemand", "resources", "prompts", "state"], rows, 120);
}

function curlLine(endpoint: string): string {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} } } };
  return `curl -s ${endpoint} -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -H 'mcp-protocol-version: 2026-07-28' -H 'mcp-method: tools/list' -d '${JSON.stringify(body)}'`;
}

/** The command as this very copy can be called, from any folder. */
function toolyardCommand(): string {
  const path = process.argv[1] ?? "toolyard";
  return /[/\\]bin[/\\]toolyard$/.test(path) ? "toolyard" : `node ${JSON.stringify(path)}`;
}

function callLine(all: readonly JsonObject[], endpoint: string): string {
  const isCalculator = all.some(({ name }) => name === "calculator");
  const [tool, args] = isCalculator ? ["calculator", "operation=add a=2 b=3"] : [String(all[0]?.["name"] ?? "meta.ping"), ""];
  return `${toolyardCommand()} call ${tool} ${args} --url ${endpoint}`.replaceAll(/ {2,}/g, " ");
}

function clientJson(endpoint: string): string {
  return JSON.stringify({ mcpServers: { toolyard: { type: "http", url: endpoint } } });
}
