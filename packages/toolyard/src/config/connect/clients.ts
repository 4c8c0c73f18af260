import type { JsonObject } from "../../core/json/json.ts";
import { nearest } from "../../core/text/suggest.ts";
import { knownFiles, type ClientFilePlaces } from "../import/known-files.ts";

/** Way to reach the hub: a program that the client starts, or a URL. */
export type HubEntry =
  | {
      readonly command: string;
      readonly args: readonly string[];
      /** Variables that the program needs and that a client would not pass on. */
      readonly env: Readonly<Record<string, string>>;
      /** True if the client's list contains only a few tools, with which the model finds the others. @default false */
      readonly listsFew?: boolean;
    }
  | {
      readonly url: string;
      readonly listsFew?: boolean;
      /** Name of the variable with the hub's token, which is never written to the file. */
      readonly tokenVariable?: string;
    };

/** A client whose file can contain an entry for the hub. */
export interface ClientKind {
  /** Name of the client on the command line. */
  readonly id: string;
  /** Name of the client in `known-files.ts`. */
  readonly program: string;
  readonly form: "json" | "toml";
  /** Key of the servers in the client's file. */
  readonly table: string;
  /** Action after which the client reads the file again. */
  readonly next: string;
  /** Returns the client's entry for the hub, or the reason why it cannot have one. */
  readonly entry: (hub: HubEntry) => JsonObject | string;
}

type EntryFormat = (hub: HubEntry) => JsonObject | string;

interface EntrySpelling {
  readonly stdio?: JsonObject;
  readonly http?: JsonObject;
  /** Name of the key for a URL. @default "url" */
  readonly url?: string;
  /** Returns the client's syntax for a variable. Absent if it has none. */
  readonly variable?: (name: string) => string;
  /** Members that prevent the client from hiding a short list of tools behind its own search. @default {} */
  readonly alwaysLoad?: JsonObject;
}

/** Creates the entry format of most clients. */
function usual({
  stdio = {},
  http = {},
  url: urlKey = "url",
  variable,
  alwaysLoad = {},
}: EntrySpelling = {}): EntryFormat {
  return (hub) => {
    const loading = hub.listsFew === true ? alwaysLoad : {};
    if ("command" in hub) return { ...stdio, ...program(hub), ...loading };
    const entry = { ...http, [urlKey]: hub.url, ...loading };
    if (hub.tokenVariable === undefined) return entry;
    if (!variable) return NO_VARIABLES;
    return { ...entry, headers: { Authorization: `Bearer ${variable(hub.tokenVariable)}` } };
  };
}

function program({ command, args, env }: Extract<HubEntry, { command: string }>): JsonObject {
  return { command, args, ...(Object.keys(env).length > 0 ? { env } : {}) };
}

const NO_VARIABLES =
  "its file does not support variables, and must not contain the hub's token. " +
  "Omit --http: a hub on stdio needs no token";

const shell = (name: string): string => `\${${name}}`;
const ofEnv = (name: string): string => `\${env:${name}}`;

/** Entry format of Claude Desktop, which only starts programs; URLs are entered in its settings. */
const claudeDesktop: EntryFormat = (hub) =>
  "command" in hub
    ? program(hub)
    : "its file accepts programs only. Enter the URL under Settings, Connectors, or omit --http";

const codex: EntryFormat = (hub) =>
  "command" in hub
    ? program(hub)
    : { url: hub.url, ...(hub.tokenVariable === undefined ? {} : { bearer_token_env_var: hub.tokenVariable }) };

const openCode: EntryFormat = (hub) => {
  if ("command" in hub) {
    const environment = Object.keys(hub.env).length > 0 ? { environment: hub.env } : {};
    return { type: "local", command: [hub.command, ...hub.args], enabled: true, ...environment };
  }
  const { url, tokenVariable } = hub;
  const headers = tokenVariable === undefined ? {} : { headers: { Authorization: `Bearer {env:${tokenVariable}}` } };
  return { type: "remote", url, enabled: true, ...headers };
};

const SERVERS = { form: "json", table: "mcpServers" } as const;
const RELOADS = "It reloads its file automatically.";

/** Clients that can be connected. A new client needs an entry here and a line in `known-files.ts`. */
export const CLIENTS: readonly ClientKind[] = [
  {
    id: "claude",
    program: "Claude Desktop",
    ...SERVERS,
    next: "Quit Claude Desktop and start it again.",
    entry: claudeDesktop,
  },
  {
    id: "claude-code",
    program: "Claude Code",
    ...SERVERS,
    next: "It is available in the next session of Claude Code; /mcp shows it.",
    entry: usual({
      stdio: { type: "stdio" },
      http: { type: "http" },
      variable: shell,
      alwaysLoad: { alwaysLoad: true },
    }),
  },
  { id: "cursor", program: "Cursor", ...SERVERS, next: RELOADS, entry: usual({ variable: ofEnv }) },
  {
    id: "vscode",
    program: "VS Code",
    form: "json",
    table: "servers",
    next: "Start it with “MCP: List Servers”, or send a prompt in agent mode.",
    entry: usual({ stdio: { type: "stdio" }, http: { type: "http" }, variable: ofEnv }),
  },
  {
    id: "vscode-insiders",
    program: "VS Code Insiders",
    form: "json",
    table: "servers",
    next: "Start it with “MCP: List Servers”, or send a prompt in agent mode.",
    entry: usual({ stdio: { type: "stdio" }, http: { type: "http" }, variable: ofEnv }),
  },
  {
    id: "windsurf",
    program: "Windsurf",
    ...SERVERS,
    next: "Press Refresh in Cascade's list of MCP servers.",
    entry: usual({ url: "serverUrl", variable: ofEnv }),
  },
  {
    id: "zed",
    program: "Zed",
    form: "json",
    table: "context_servers",
    next: RELOADS,
    entry: usual({ stdio: { source: "custom" } }),
  },
  {
    id: "codex",
    program: "Codex",
    form: "toml",
    table: "mcp_servers",
    next: "It is available in the next session of Codex.",
    entry: codex,
  },
  {
    id: "gemini",
    program: "Gemini CLI",
    ...SERVERS,
    next: "It is available in the next session of Gemini CLI; /mcp shows it.",
    entry: usual({ url: "httpUrl", variable: shell }),
  },
  {
    id: "opencode",
    program: "OpenCode",
    form: "json",
    table: "mcp",
    next: "It is available in the next session of OpenCode.",
    entry: openCode,
  },
  { id: "cline", program: "Cline", ...SERVERS, next: RELOADS, entry: usual({ http: { type: "streamableHttp" } }) },
  {
    id: "roo",
    program: "Roo Code",
    ...SERVERS,
    next: RELOADS,
    entry: usual({ http: { type: "streamable-http" }, variable: ofEnv }),
  },
  { id: "lmstudio", program: "LM Studio", ...SERVERS, next: RELOADS, entry: usual() },
  { id: "kiro", program: "Kiro", ...SERVERS, next: RELOADS, entry: usual({ variable: shell }) },
  {
    id: "amazonq",
    program: "Amazon Q",
    ...SERVERS,
    next: "It is available in the next session of Amazon Q.",
    entry: usual({ http: { type: "http" } }),
  },
  {
    id: "copilot",
    program: "Copilot CLI",
    ...SERVERS,
    next: "It is available in the next session of Copilot CLI.",
    entry: usual({
      stdio: { type: "local", tools: ["*"] },
      http: { type: "http", tools: ["*"] },
      alwaysLoad: { deferTools: "never" },
    }),
  },
];

/** Aliases of clients. */
const ALIASES: Readonly<Record<string, string>> = {
  "claude-desktop": "claude",
  code: "vscode",
  "vs-code": "vscode",
  "gemini-cli": "gemini",
  "lm-studio": "lmstudio",
  "roo-code": "roo",
  "amazon-q": "amazonq",
  "copilot-cli": "copilot",
};

/** Returns the client with this name, or the names of similar clients. */
export function findClient(name: string): ClientKind | readonly string[] {
  const id = ALIASES[name.toLowerCase()] ?? name.toLowerCase();
  return (
    CLIENTS.find((client) => client.id === id) ??
    nearest(id, [...CLIENTS.map((client) => client.id), ...Object.keys(ALIASES)])
  );
}

/** Returns the file in which a client keeps its user's servers. The file may not exist. */
export function clientFile({ program }: ClientKind, places: ClientFilePlaces): string {
  const known = knownFiles(places).find((file) => file.program === program && file.workspace === undefined);
  if (!known) throw new Error(`No file is known for ${program}.`);
  return known.path;
}
