import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Hub } from "../../hub/open-hub.ts";
import type { ServedHttp } from "../../hub/serve/serve.ts";
import { settled } from "../../hub/sources/settled.ts";
import { colorsOf } from "./colors.ts";
import { aborted } from "../input/interrupts.ts";
import { ownProgram } from "../hub-access/hub-entry.ts";
import type { Io } from "./io.ts";
import { plainLine, table } from "./table.ts";

/** How somebody reaches the hub that has just started. */
export interface Reach {
  readonly endpoint: string;
  /** Variable that holds the token, when callers must send one. */
  readonly tokenVariable?: string;
}

/**
 * What `serve` prints: the endpoint, tools by source and visibility, and lines that work as they stand from any folder.
 */
export async function banner(
  hub: Hub,
  { endpoint, rest, tokenVariable }: ServedHttp & { readonly tokenVariable: string | undefined },
  io: Io,
): Promise<string> {
  const { bold, cyan, dim } = colorsOf(io);
  await Promise.race([settled(hub, SETTLE_MS), aborted(io.interrupted)]);
  const listed = (await hub.port.list("tools", { mode: "normal", principal: LOCAL_PRINCIPAL })).entries;
  const all = (await hub.port.list("tools", { mode: "all", principal: LOCAL_PRINCIPAL })).entries;
  const reach: Reach = { endpoint, ...(tokenVariable === undefined ? {} : { tokenVariable }) };
  return [
    `${bold("toolyard")} serves ${all.length} tools at ${cyan(endpoint)}`,
    "",
    sourceRows(hub, io),
    "",
    ...(hub.config.files.length === 0
      ? ["There is no toolyard.toml here, so these are the hub's own tools. `toolyard init` writes one.", ""]
      : []),
    `${listed.length} ${listed.length === 1 ? "is" : "are"} listed, the others are found with tool_search. ` +
      "Ask for two tools only with ?tool_mode=discovery.",
    "",
    ...(tokenVariable === undefined ? [] : [dim(`# callers need the token: export ${tokenVariable}=…`)]),
    dim("# list the tools"),
    curlLine(reach),
    dim("# find and call one"),
    `${toolyardCommand()} search "${hasCalculator(all) ? "add numbers" : "ping"}" ${remoteFlags(reach)}`,
    `${toolyardCommand()} call ${sampleCall(all)} ${remoteFlags(reach)}`,
    ...(rest === undefined ? [] : [dim("# the same by REST; /docs describes it"), restLine(rest, all, reach)]),
    dim("# a client or editor that takes an address"),
    addressJson(reach),
    ...(hub.config.files.length === 0 ? [] : [dim("# a desktop client that starts its servers"), commandJson(hub)]),
    "",
    dim("Ctrl+C ends it."),
  ].join("\n");
}

/** Longer than this nobody wants to wait for the first words; who starts later is listed later. */
const SETTLE_MS = 5000;

function sourceRows(hub: Hub, io: Io): string {
  const rows = hub.port.sources().map(({ source, status, resources, prompts }) => {
    const { native, ondemand } = hub.tools.visibilities(source.id);
    return [
      source.id,
      source.kind,
      String(native),
      String(ondemand),
      String(resources),
      String(prompts),
      stateText(status),
    ];
  });
  return table(["source", "kind", "native", "ondemand", "resources", "prompts", "state"], rows, io);
}

function stateText({ state, lastError }: { readonly state: string; readonly lastError?: string }): string {
  return state === "ready" || lastError === undefined ? state : `${state}: ${plainLine(lastError)}`;
}

function curlLine({ endpoint, tokenVariable }: Reach): string {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/list",
    params: {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  };
  const headers = [
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: tools/list",
  ].map((header) => `-H '${header}'`);
  const authorization = tokenVariable === undefined ? [] : [`-H "authorization: Bearer $${tokenVariable}"`];
  return ["curl -s", endpoint, ...headers, ...authorization, `-d '${JSON.stringify(body)}'`].join(" ");
}

/** The command as this very copy can be called, from any folder. */
function toolyardCommand(): string {
  const { command, args } = ownCommand();
  return [command, ...args].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

function ownCommand(): { readonly command: string; readonly args: readonly string[] } {
  const path = process.argv[1] ?? "toolyard";
  return /[/\\]bin[/\\]toolyard$/.test(path) ? { command: "toolyard", args: [] } : { command: "node", args: [path] };
}

function remoteFlags({ endpoint, tokenVariable }: Reach): string {
  return `--url ${endpoint}${tokenVariable === undefined ? "" : ` --token-env ${tokenVariable}`}`;
}

function restLine(rest: string, all: readonly JsonObject[], { tokenVariable }: Reach): string {
  const [tool, ...pairs] = sampleCall(all).split(" ");
  const args = Object.fromEntries(
    pairs
      .map((pair) => pair.split("="))
      .map(([name = "", value = ""]) => [name, Number.isNaN(Number(value)) ? value : Number(value)]),
  );
  const authorization = tokenVariable === undefined ? [] : [`-H "authorization: Bearer $${tokenVariable}"`];
  return [
    "curl -s",
    `${rest}/tools/${tool}`,
    "-H 'content-type: application/json'",
    ...authorization,
    `-d '${JSON.stringify(args)}'`,
  ].join(" ");
}

function sampleCall(all: readonly JsonObject[]): string {
  return hasCalculator(all) ? "calculator operation=add a=2 b=3" : "meta.ping";
}

function hasCalculator(all: readonly JsonObject[]): boolean {
  return all.some(({ name }) => name === "calculator");
}

function addressJson({ endpoint, tokenVariable }: Reach): string {
  const headers = tokenVariable === undefined ? {} : { headers: { Authorization: `Bearer \${${tokenVariable}}` } };
  return JSON.stringify({ mcpServers: { toolyard: { type: "http", url: endpoint, ...headers } } });
}

/** Such a client gets a hub of its own, of the same configuration. */
function commandJson(hub: Hub): string {
  // These clients rarely know the user's PATH, so neither a bare `toolyard` nor a bare `node` would be found.
  const files = hub.config.files.flatMap((file) => ["--config", file]);
  const args = [ownProgram(), "serve", "--stdio", ...files];
  return JSON.stringify({ mcpServers: { toolyard: { command: process.execPath, args } } });
}
