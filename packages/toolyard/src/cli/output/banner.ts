import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { stringifyExact } from "../../core/json/exact-json.ts";
import { objectMember, type JsonObject } from "../../core/json/json.ts";
import { factsOf } from "../../core/sources/provider-kinds.ts";
import { shellAssignment, shellVariable, shellWord } from "../../core/text/shell-word.ts";
import type { Hub } from "../../hub/open-hub.ts";
import type { ServedHttp } from "../../hub/serve/serve.ts";
import { settled } from "../../hub/sources/settled.ts";
import { colorsOf } from "./colors.ts";
import { aborted } from "../input/interrupts.ts";
import { ownProgram } from "../hub-access/own-program.ts";
import { chooseExample, exampleArguments, exampleWords } from "./example-call.ts";
import type { Io } from "./io.ts";
import { plainLine, table } from "./table.ts";

/** Address and token of the hub that has just started, for clients. */
export interface Reach {
  readonly endpoint: string;
  /** Name of the variable with the token, if callers must send one. */
  readonly tokenVariable?: string;
}

interface CallerAccess {
  readonly tokenVariable: string | undefined;
  /** True if the hub accepts no tokens of `[server]`, so that clients sign in. */
  readonly signsIn: boolean;
}

/**
 * Returns the output of `serve`: the endpoint, the tools by source and visibility, and example commands that work in
 * any folder.
 */
export async function banner(
  hub: Hub,
  { endpoint, rest, tokenVariable, signsIn }: ServedHttp & CallerAccess,
  io: Io,
): Promise<string> {
  const { bold, cyan, dim } = colorsOf(io);
  await Promise.race([settled(hub, SETTLE_MS), aborted(io.interrupted)]);
  const listed = (await hub.port.list("tools", { mode: "normal", principal: LOCAL_PRINCIPAL })).entries;
  const all = (await hub.port.list("tools", { mode: "all", principal: LOCAL_PRINCIPAL })).entries;
  const example = exampleOf(hub);
  const reach: Reach = { endpoint, ...(tokenVariable === undefined ? {} : { tokenVariable }) };
  return [
    `${bold("toolyard")} serves ${all.length} tools at ${cyan(endpoint)}`,
    "",
    sourceRows(hub, io),
    "",
    ...(hub.config.files.length === 0
      ? ["There is no toolyard.toml here, so these are the hub's own tools. `toolyard init` writes one.", ""]
      : []),
    listedLine(listed),
    "",
    ...(tokenVariable === undefined ? [] : [dim(tokenLine(tokenVariable, signsIn))]),
    dim("# list the tools"),
    rest === undefined ? `${toolyardCommand()} list ${remoteFlags(reach)}` : curlLine(`${rest}/tools`, reach),
    dim("# find and call one"),
    `${toolyardCommand()} search ${shellWord(queryFor(example))} ${remoteFlags(reach)}`,
    `${toolyardCommand()} call ${callWords(example)} ${remoteFlags(reach)}`,
    ...(rest === undefined ? [] : [dim("# the same by REST; /docs describes it"), restLine(rest, example, reach)]),
    dim("# add it to the desktop clients and editors of this machine"),
    `${toolyardCommand()} connect${configFlags(hub)}`,
    dim("# a client or editor that takes an address"),
    addressJson(signsIn ? { endpoint } : reach),
    ...(hub.config.files.length === 0 ? [] : [dim("# a desktop client that starts its servers"), commandJson(hub)]),
    "",
    dim("Ctrl+C ends it."),
  ].join("\n");
}

/**
 * Explains the list that clients get, because the table counts the two discovery tools as native even while they are
 * not listed.
 */
function listedLine(listed: readonly JsonObject[]): string {
  const count = `${listed.length} ${listed.length === 1 ? "is" : "are"} listed`;
  return listed.some(({ name }) => name === "tool_search")
    ? `${count}, the others are found with tool_search. ?tool_mode=discovery lists only the two discovery tools.`
    : `${count}. The two discovery tools are listed if another source has ondemand tools.`;
}

function tokenLine(variable: string, signsIn: boolean): string {
  const assignment = shellAssignment(variable, "…");
  return signsIn
    ? `# clients open the sign-in in a browser; these commands need an access token: ${assignment}`
    : `# callers need the token: ${assignment}`;
}

/** Maximum wait before the first output; slower sources are listed later. */
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

/** Returns a curl command. It needs no quotes without a token, so it works in every shell. */
function curlLine(url: string, { tokenVariable }: Reach): string {
  return ["curl -s", url, ...authorization(tokenVariable)].join(" ");
}

function authorization(tokenVariable: string | undefined): readonly string[] {
  return tokenVariable === undefined ? [] : [`-H "authorization: Bearer ${shellVariable(tokenVariable)}"`];
}

/** Returns the command that runs this copy of Toolyard from any folder. */
function toolyardCommand(): string {
  const { command, args } = ownCommand();
  return [command, ...args].map((word) => shellWord(word)).join(" ");
}

function ownCommand(): { readonly command: string; readonly args: readonly string[] } {
  const path = process.argv[1] ?? "toolyard";
  return /[/\\]bin[/\\]toolyard$/.test(path) ? { command: "toolyard", args: [] } : { command: "node", args: [path] };
}

function remoteFlags({ endpoint, tokenVariable }: Reach): string {
  return `--url ${endpoint}${tokenVariable === undefined ? "" : ` --token-env ${tokenVariable}`}`;
}

function restLine(rest: string, example: JsonObject, { tokenVariable }: Reach): string {
  const args = exampleArguments(objectMember(example, "inputSchema") ?? {});
  return [
    "curl -s",
    shellWord(`${rest}/tools/${encodeURIComponent(String(example["name"]))}`),
    `-H "content-type: application/json"`,
    ...authorization(tokenVariable),
    `-d ${shellWord(stringifyExact(args) ?? "{}")}`,
  ].join(" ");
}

/** Returns a tool for the example: a self-explanatory local tool of the user, or one that every hub has. */
function exampleOf(hub: Hub): JsonObject {
  const tools = hub.tools.ownTools().map(({ entry, source: { kind } }) => ({ entry, isLocal: factsOf(kind).isLocal }));
  return chooseExample(tools) ?? { name: "meta.ping", description: "ping" };
}

function callWords(example: JsonObject): string {
  const words = [String(example["name"]), ...exampleWords(objectMember(example, "inputSchema") ?? {})];
  return words.map((word) => shellWord(word)).join(" ");
}

const QUERY_WORDS = 4;

/** Returns a search query for a tool: the first words of its description. */
function queryFor({ name, description }: JsonObject): string {
  const words = plainLine(String(description ?? "")).match(/[\p{L}\p{N}-]+/gu) ?? [];
  return words.length === 0 ? String(name) : words.slice(0, QUERY_WORDS).join(" ").toLowerCase();
}

function configFlags(hub: Hub): string {
  return hub.config.files.map((file) => ` --config ${shellWord(file)}`).join("");
}

function addressJson({ endpoint, tokenVariable }: Reach): string {
  const headers = tokenVariable === undefined ? {} : { headers: { Authorization: `Bearer \${${tokenVariable}}` } };
  return JSON.stringify({ mcpServers: { toolyard: { type: "http", url: endpoint, ...headers } } });
}

/** Returns a client's entry that starts a separate hub with the same configuration. */
function commandJson(hub: Hub): string {
  // Paths are absolute, because these clients rarely have the user's PATH and would find neither `toolyard` nor `node`.
  const files = hub.config.files.flatMap((file) => ["--config", file]);
  const args = [ownProgram(), "serve", "--stdio", ...files];
  return JSON.stringify({ mcpServers: { toolyard: { command: process.execPath, args } } });
}
