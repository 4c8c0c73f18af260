import type { JsonObject } from "../core/json.ts";
import { VERSION } from "../core/version.ts";
import { locateConfig } from "../config/locate.ts";
import type { LoadedConfig } from "../config/load.ts";
import { loadHubConfig, openHub, type Hub, type SourceFilter } from "../hub/open-hub.ts";
import type { Toolyard } from "../hub/toolyard.ts";
import { UsageError } from "./failure.ts";
import type { Io } from "./io.ts";
import type { SharedOptions } from "./program.ts";

/** The configuration that a command works with: named, found, or none at all. */
export function loadSettings(options: SharedOptions, io: Io, flags: JsonObject = {}): Promise<LoadedConfig> {
  const files = locateConfig(options.config ?? [], io.env, io.cwd);
  return loadHubConfig({ files, variables: io.env, flags: withVerbosity(flags, options) });
}

function withVerbosity(flags: JsonObject, options: SharedOptions): JsonObject {
  return options.verbose ? { logging: { level: "debug" }, ...flags } : flags;
}

export interface HubOptions extends SharedOptions {
  /** Leaves sources out, so that a command on one tool starts only what is needed. */
  readonly only?: SourceFilter;
  /** Connects to an upstream only when its last known list is missing or it is called. */
  readonly lazy?: boolean;
}

/** A hub for one command: built here from the configuration, or the one behind `--url`. Logs warnings only unless asked for more. */
export async function withHub<T>(options: HubOptions, io: Io, work: (toolyard: Toolyard, hub: Hub) => Promise<T>): Promise<T> {
  const config = options.url === undefined ? await loadSettings(options, io, QUIET) : await remoteSettings(options, io);
  const hub = await openHub({ config, variables: io.env, lazy: options.lazy === true, mirror: options.url !== undefined, ...(options.only ? { only: options.only } : {}) });
  try {
    return await work(hub.toolyard({ door: "cli", clientName: "toolyard-cli", clientVersion: VERSION }), hub);
  } finally {
    await hub.close();
  }
}

const QUIET: JsonObject = { logging: { level: "warning" } };
/** Id of the one source behind `--url`; its tools keep the names that the hub there gave them. */
const REMOTE_ID = "hub";

/** A hub whose only source is another hub, seen whole: what a filter would hide is there to be searched. */
async function remoteSettings(options: SharedOptions, io: Io): Promise<LoadedConfig> {
  const url = parseUrl(options.url!);
  if (!url.searchParams.has("tool_mode")) url.searchParams.set("tool_mode", "show_all");
  const token = readToken(options, io);
  const server = { alias: REMOTE_ID, namespace: "", url: url.href, ...(token === undefined ? {} : { token }) };
  const flags = withVerbosity({ ...QUIET, mcp: { remote_servers: [server] } }, options);
  return loadHubConfig({ files: [], variables: {}, flags });
}

export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:8808/mcp, got "${text}".`);
}

export function readToken(options: SharedOptions, io: Io): string | undefined {
  if (options.tokenEnv === undefined) return io.env["TOOLYARD_TOKEN"];
  const token = io.env[options.tokenEnv];
  if (token) return token;
  throw new UsageError(`--token-env names ${options.tokenEnv}, which is not set. Set it to the hub's token.`);
}

