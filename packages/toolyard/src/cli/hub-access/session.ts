import { within } from "../../core/timing/wait.ts";
import type { LoadedHubConfig } from "../../hub/schema.ts";
import type { ToolMode } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { FailError } from "../../core/errors.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { VERSION } from "../../core/version.ts";
import { loadHubConfig, openHub, type Hub, type SourceFilter } from "../../hub/open-hub.ts";
import { settled } from "../../hub/sources/settled.ts";
import { toolyardOf, type Toolyard } from "../../kernel/toolyard.ts";
import { UsageError } from "../failure.ts";
import { watchFaults } from "../faults.ts";
import { aborted } from "../input/interrupts.ts";
import type { Io } from "../output/io.ts";
import { loadSettings, withVerbosity } from "./settings.ts";
import type { SharedOptions } from "../rows/command-row.ts";

export interface CommandHubOptions extends SharedOptions {
  /** Excludes sources, so that a command about one tool starts only the necessary sources. */
  readonly only?: SourceFilter;
  /**
   * True: connects to an upstream only if its cached list is missing or one of its tools is called. False: connects to
   * all. @default as configured
   */
  readonly lazy?: boolean;
  /** Log level on standard error; with `--json` nothing is logged. @default "warning" */
  readonly logLevel?: "warning" | "error";
  /** Tool mode requested from the hub behind `--url`, unless the URL itself sets one. @default "all" */
  readonly shows?: ToolMode;
}

/**
 * Runs `work` on a hub for one command: a hub created from the configuration, or the one behind `--url`. An interrupt
 * closes the hub gracefully, and the command fails as `cancelled`.
 */
export async function withHub<T>(
  options: CommandHubOptions,
  io: Io,
  work: (toolyard: Toolyard, hub: Hub) => Promise<T>,
): Promise<T> {
  const hub = await openFor(options, io);
  // After the terminal was closed nothing is awaited. The exit handler kills the children.
  const onHangup = (): never => process.exit(HANGUP_EXIT);
  process.once("SIGHUP", onHangup);
  const unwatch = watchFaults(hub.logger);
  try {
    const toolyard = toolyardOf(hub, { endpoint: "cli", clientName: "toolyard-cli", clientVersion: VERSION });
    const answer =
      options.url === undefined
        ? work(toolyard, hub)
        : reached(hub, options.url, readToken(options, io)).then(() => work(toolyard, hub));
    return await Promise.race([answer, cancellation(io.interrupted, answer)]);
  } finally {
    process.off("SIGHUP", onHangup);
    await hub.close();
    unwatch();
  }
}

async function openFor(options: CommandHubOptions, io: Io): Promise<Hub> {
  const isRemote = options.url !== undefined;
  // Behind `--url` there is one source, and the command's answer contains its errors, so only errors are logged.
  const quiet: JsonObject = { logging: { level: isRemote ? "error" : (options.logLevel ?? "warning") } };
  const config = await (isRemote ? remoteSettings(options, io, quiet) : loadSettings(options, io, quiet));
  const { lazy } = options;
  return openHub({
    config,
    variables: io.env,
    ...(lazy === undefined ? {} : { lazy: lazy && !isRemote }),
    mirror: isRemote,
    printsFailures: options.verbose !== true,
    ...(options.only ? { only: options.only } : {}),
    // Programs also read standard error: with --json it contains only the error object.
    ...(options.json && !options.verbose ? { logger: SILENT_LOGGER } : {}),
  });
}

const HANGUP_EXIT = 129;
/** Longer than the connection timeout, so that a failed connection reports its own error. */
export const SETTLED_WITHIN_MS = 35_000;

/** Rejects if the hub cannot be reached, because an empty list would be wrong. */
async function reached(hub: Hub, url: string, token: string | undefined): Promise<void> {
  await settled(hub, SETTLED_WITHIN_MS);
  for (const { status } of hub.port.sources()) {
    if (status.state === "needs_authorisation")
      throw new FailError(wantsToken(new URL(url).origin, token !== undefined));
    if (status.state !== "ready") throw new FailError(fail("unavailable", status.lastError ?? "It does not respond."));
  }
}

/** Time that a cancelled call gets to cancel the calls that it made. */
const CANCEL_GRACE_MS = 500;

async function cancellation(interrupted: AbortSignal, answer: Promise<unknown>): Promise<never> {
  await aborted(interrupted);
  await within(answer, CANCEL_GRACE_MS, { keepsAlive: false });
  throw new FailError(fail("cancelled", "Interrupted."));
}

/** Id of the only source behind `--url`. Its tools keep the names of the remote hub. */
const REMOTE_ID = "hub";

/**
 * Loads settings of a hub with another hub as its only source, without filters, so that hidden tools can be searched.
 */
async function remoteSettings(options: CommandHubOptions, io: Io, quiet: JsonObject): Promise<LoadedHubConfig> {
  const url = parseUrl(options.url!);
  if (!url.searchParams.has("tool_mode")) url.searchParams.set("tool_mode", modeWord(options));
  const token = readToken(options, io);
  const server = { alias: REMOTE_ID, namespace: "", url: url.href, ...(token === undefined ? {} : { token }) };
  const flags = withVerbosity({ ...quiet, mcp: { remote_servers: [server] } }, options);
  return loadHubConfig({ files: [], variables: {}, flags });
}

function modeWord({ shows = "all" }: CommandHubOptions): string {
  return shows === "all" ? "show_all" : shows;
}

export function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new UsageError(`--url must be an http or https address such as http://127.0.0.1:8808/mcp, got "${text}".`);
}

/** Explains status 401 of a hub: no token was sent, or the token is unknown. */
export function wantsToken(origin: string, sent: boolean): Fail {
  const what = sent ? "does not know the token that was sent" : "requires a token";
  return fail(
    "needs_authorisation",
    `${origin} ${what} (HTTP 401). Name the variable that holds the hub's token with --token-env.`,
  );
}

export function readToken(options: SharedOptions, io: Io): string | undefined {
  if (options.tokenEnv === undefined) return io.env["TOOLYARD_TOKEN"];
  const token = io.env[options.tokenEnv];
  if (token) return token;
  throw new UsageError(`--token-env names ${options.tokenEnv}, which is not set. Set it to the hub's token.`);
}
