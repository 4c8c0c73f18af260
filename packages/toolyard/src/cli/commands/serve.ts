import { OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { FileDraft } from "../../core/ports/hub-control.ts";
import { ACCESS_PLAN } from "../../core/services.ts";
import { guardStdout, type GuardedStdout } from "../../process/stdout-guard.ts";
import { FirstCaller } from "../../hub/serve/first-caller.ts";
import { logConfig } from "../../hub/log-config.ts";
import { openHub, type Hub } from "../../hub/open-hub.ts";
import { Reloader } from "../../hub/reload.ts";
import { endpointsOf, type ServerConfig } from "../../hub/serve/endpoints.ts";
import { reopen } from "../../hub/serve/reopen.ts";
import { serveHttp, type ServedHub, type ServedHttp } from "../../hub/serve/serve.ts";
import { getService } from "../../kernel/start-features.ts";
import type { CallWatch } from "../../pipeline/ports.ts";
import { EXIT, UsageError } from "../failure.ts";
import { watchFaults } from "../faults.ts";
import { aborted } from "../input/interrupts.ts";
import { print, printPainted, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { assertAccepted } from "../input/consent.ts";
import { assertProfile } from "../hub-access/named-profile.ts";
import { loadSettings, readDraft } from "../hub-access/settings.ts";
import { watchTerminal } from "../output/terminal.ts";
import { besideHttp, readLinger, serveClients, type ServedSharing } from "../hub-access/shared-hub.ts";

interface Options extends SharedOptions {
  readonly stdio?: boolean;
  /** With `stdio`: this process joins the shared hub. Without: this process is the shared hub. */
  readonly shared?: boolean;
  readonly linger?: string;
  /** True if the process that started this one holds the lock for starting the shared hub. */
  readonly forClients?: boolean;
  readonly host?: string;
  readonly port?: string;
  readonly basePath?: string;
  readonly toolMode?: string;
  readonly era?: "auto" | "legacy";
  /** Profile of the client, with `stdio`. */
  readonly profile?: string;
  /** Patterns of tools, prompts and URIs to withhold from the client of `stdio`. */
  readonly deny?: readonly string[];
  readonly workers?: string;
  readonly insecure?: boolean;
  /** True if the terminal shows no calls. */
  readonly quiet?: boolean;
  /** False with `--no-watch`. */
  readonly watch: boolean;
}

export const run: CommandAction<Options> = async (_args, options, io) => {
  // Stdout is reserved before anything else can print: with stdio, it belongs to the protocol.
  const output = options.stdio ? guardStdout() : undefined;
  const flags = flagsOf(options, io);
  // With stdio, and while a hub is running, no user can be asked.
  const { ask: _ask, ...unasked } = io;
  await assertAccepted(options, output ? unasked : io);
  // A desktop client starts this program with few environment variables, and servers inherit them, so the stored ones
  // are added.
  if (output || options.shared) {
    const { addStoredEnvironment } = await import("../hub-access/desktop-environment.ts");
    await addStoredEnvironment(process.env);
  }
  if (output && options.shared) {
    const { joinShared } = await import("../hub-access/join-shared.ts");
    const ended = await joinShared({ options, io, output });
    if (ended !== undefined) return ended;
  }
  const config = await loadSettings(options, output ? unasked : io, flags);
  assertProfile(config, options);
  const load = (draft?: FileDraft) =>
    draft ? readDraft(options, unasked, { flags, draft }) : loadSettings(options, unasked, flags);
  const firstCaller = new FirstCaller();
  const start = { isOver: false };
  const hub = await openHub({
    config,
    variables: io.env,
    // On a terminal, the banner shows the started sources, so the log is quiet during the start. A configured log level
    // has precedence.
    isQuiet: () => !start.isOver && io.stderr.isTTY === true && !output && config.tree.logging?.level === undefined,
    watch: await watchOf(options, config, io),
    ...(output || options.shared ? { firstCallerEra: firstCaller.era } : {}),
  });
  const unwatch = watchFaults(hub.logger);
  logConfig(config, hub.logger);
  try {
    return await serve(hub, { options, io, load, output, firstCaller, onStarted: () => (start.isOver = true) });
  } finally {
    await hub.close();
    unwatch();
    output?.release();
  }
};

/**
 * Returns the view of calls. Every call is logged. A terminal shows one line per call, or none with `--quiet`. If the
 * log goes to the same terminal, its own line for the call is omitted there but kept for clients that read the log.
 */
async function watchOf({ quiet = false, json, stdio }: Options, { tree }: Hub["config"], io: Io): Promise<CallWatch> {
  const isShown = io.stderr.isTTY === true && !json && !stdio;
  const isLogElsewhere = tree.logging?.file !== undefined;
  const watch: CallWatch = { level: "info", isUnwritten: isShown && !isLogElsewhere };
  return isShown && !quiet ? { ...watch, onCall: (await import("../live/call-lines.ts")).callLines(io) } : watch;
}

interface ServeContext {
  readonly options: Options;
  readonly io: Io;
  readonly load: (draft?: FileDraft) => Promise<Hub["config"]>;
  readonly output: GuardedStdout | undefined;
  readonly firstCaller: FirstCaller;
  /** Called after the banner was printed. */
  readonly onStarted: () => void;
}

async function serve(hub: Hub, serving: ServeContext): Promise<number> {
  const { options, io, load } = serving;
  let served: ServedHub | ServedHttp | undefined;
  let [current, server] = [endpointsOf(hub.features, hub.config.tree), serverOf(hub)];
  const leaving = new AbortController();
  const reloader = new Reloader({
    hub,
    load,
    onReloaded: async () => {
      const wanted = endpointsOf(hub.features, hub.config.tree);
      if (!served || !("address" in served) || wanted === current) return;
      try {
        const fresh = await reopen(hub, served, { server: serverOf(hub), before: server });
        if (fresh !== served) server = serverOf(hub);
        [served, current] = [fresh, wanted];
      } catch (error) {
        return leaving.abort(error);
      }
      // A new token changes which callers have access, and so the offered capabilities.
      await hub.reconfigure(hub.config);
    },
  });
  let beside: Awaited<ReturnType<typeof besideHttp>>;
  const isTerminalGone = watchTerminal();
  const sharing = { options, io, reloader, onStop: () => leaving.abort("`toolyard stop` was run") };
  // SIGHUP ends the hub if its terminal was closed. Otherwise it reloads the files.
  const onHangup = (): void => {
    if (isTerminalGone()) return leaving.abort("the terminal was closed");
    void reloader.reload();
    if (served && "checkCertificate" in served) void served.checkCertificate?.();
  };
  // Registered before the address is printed, because a program that reads the address may send the signal immediately.
  process.on("SIGHUP", onHangup);
  try {
    served = await open(hub, serving, sharing);
    serving.onStarted();
    if (options.watch) await reloader.watch(hub.config.files);
    if ("address" in served) beside = await besideHttp(hub, sharing);
    // A stdio endpoint ends with its client, an HTTP endpoint with the process.
    await Promise.race([aborted(io.interrupted), aborted(leaving.signal), served.done]);
    if (leaving.signal.reason instanceof Error) throw leaving.signal.reason;
    hub.logger.info(
      io.interrupted.aborted
        ? "Ending after a signal: running calls get their time. A second signal ends them immediately."
        : `Ending: ${leaving.signal.aborted ? String(leaving.signal.reason) : "the client has disconnected"}.`,
    );
    return EXIT.ok;
  } finally {
    process.off("SIGHUP", onHangup);
    await reloader.close();
    await Promise.all([served?.close(), beside?.close()]);
  }
}

/** Opens the endpoint that the options select: stdio, the shared hub, or HTTP. */
async function open(
  hub: Hub,
  { options, io, output, firstCaller }: ServeContext,
  sharing: ServedSharing,
): Promise<ServedHub | ServedHttp> {
  if (output) {
    const { serveStdio } = await import("../../hub/serve/serve-stdio.ts");
    const { profile, toolMode, deny } = options;
    const isModeNamed = toolMode !== undefined;
    const pipe = { input: process.stdin, output, firstCaller, profile, isModeNamed, ...(deny && { deny }) };
    return serveStdio(hub, serverOf(hub), pipe);
  }
  if (!options.shared) return startHttp(hub, options, io);
  return serveClients(hub, { ...sharing, firstCaller, lingerMs: readLinger(options.linger) });
}

function serverOf(hub: Hub): ServerConfig {
  return hub.config.tree.server ?? {};
}

async function startHttp(hub: Hub, options: Options, io: Io): Promise<ServedHttp> {
  const served = await serveHttp(hub, serverOf(hub));
  if (options.json) await print(io.stdout, JSON.stringify({ url: served.endpoint, pid: process.pid }));
  else await printPainted(io.stdout, await bannerAfterStart(hub, served, { options, io }));
  return served;
}

/** Shows starting sources until the banner shows the result. */
async function bannerAfterStart(
  hub: Hub,
  served: ServedHttp,
  { options, io }: Pick<ServeContext, "options" | "io">,
): Promise<string> {
  const live =
    io.stderr.isTTY === true ? (await import("../live/sources.ts")).showSources(hub.port, options, io) : undefined;
  try {
    const { banner } = await import("../output/banner.ts");
    const signsIn = hub.config.tree.auth?.modes?.includes("tokens") === false;
    return await banner(hub, { ...served, tokenVariable: tokenVariable(hub, options), signsIn }, io);
  } finally {
    live?.end();
  }
}

/** Returns the name of the variable in which callers of this hub can store the token, if a token is required. */
function tokenVariable({ services }: Hub, { tokenEnv }: Options): string | undefined {
  return getService(services, ACCESS_PLAN)().isGuarded ? (tokenEnv ?? "TOOLYARD_TOKEN") : undefined;
}

function flagsOf(options: Options, io: Io): JsonObject {
  assertAddressWanted(options);
  const { host, port, basePath, toolMode, era, workers, insecure, deny, stdio } = options;
  if (deny && !stdio)
    throw new UsageError(
      "--deny limits the one client of --stdio. For a hub at an address, give each client a token with `deny`.",
    );
  const given = {
    host,
    port: port === undefined ? undefined : readPort(port),
    base_path: basePath,
    tool_mode: toolMode,
    era,
    workers: workers === undefined ? undefined : readWorkers(workers),
    insecure,
  };
  const server = {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...tokenOf(options, io),
  };
  return Object.keys(server).length > 0 ? { server } : {};
}

function assertAddressWanted({ host, port, workers, stdio, shared, profile }: Options): void {
  if (profile !== undefined && !stdio)
    throw new UsageError(
      `--profile is for --stdio. \`toolyard serve\` serves every profile: this one at /mcp/${profile}.`,
    );
  const isListening = host !== undefined || port !== undefined || workers !== undefined;
  if (!isListening || !(stdio || shared)) return;
  const which = stdio ? "--stdio listens nowhere" : "--shared listens for this user's clients only";
  throw new UsageError(`${which}; leave --host, --port and --workers out.`);
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new OptionError(`--port must be a whole number from 0 to 65535, got "${text}".`);
}

function readWorkers(text: string): number | "auto" {
  if (text === "auto" || /^[1-9]\d?$/.test(text)) return text === "auto" ? text : Number(text);
  throw new OptionError(`--workers must be a whole number from 1 to 64, or "auto", got "${text}".`);
}

function tokenOf({ tokenEnv }: Options, io: Io): JsonObject {
  if (tokenEnv === undefined) return {};
  const token = io.env[tokenEnv];
  if (token) return { token };
  throw new UsageError(`--token-env names ${tokenEnv}, which is not set. Set it to the token that callers must send.`);
}
