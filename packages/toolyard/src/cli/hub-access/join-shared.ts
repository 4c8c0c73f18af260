import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { messageOf } from "../../core/errors.ts";
import type { ToolMode } from "../../core/calls/call.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { serverVariables } from "../../process/server-environment.ts";
import type { GuardedStdout } from "../../process/stdout-guard.ts";
import type { HubConfig, LoadedHubConfig } from "../../hub/schema.ts";
import { configIdentity } from "../../hub/shared/identity.ts";
import { joinOrStart, type JoinResult } from "../../hub/shared/join.ts";
import type { SharedPlace } from "../../hub/shared/place.ts";
import { relay, type HubEnd } from "../../hub/shared/relay.ts";
import { createTelemetry } from "../../features/telemetry/telemetry.ts";
import { EXIT } from "../failure.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { assertProfile } from "./named-profile.ts";
import { placeOf, sharedConfig } from "./shared-hub.ts";

interface Options extends SharedOptions {
  readonly toolMode?: string;
  readonly era?: "auto" | "legacy";
  readonly profile?: string;
  readonly deny?: readonly string[];
  readonly linger?: string;
  readonly watch: boolean;
}

export interface JoinSharedOptions {
  readonly options: Options;
  readonly io: Io;
  readonly output: GuardedStdout;
}

/**
 * Serves one client on stdio with a hub that other clients share. Returns the exit code, or `undefined` if this client
 * needs a separate hub; the reason is logged.
 */
export async function joinShared({ options, io, output }: JoinSharedOptions): Promise<number | undefined> {
  const config = await sharedConfig({ options, io });
  assertProfile(config, options);
  const telemetry = createTelemetry(withVerbosity(config, options), io.env);
  telemetry.redactor.addAll(config.secrets);
  const { logger } = telemetry;
  try {
    const joining: JoinContext = { options, io, logger };
    const joined = await join(joining, config);
    if (joined.outcome !== "joined") {
      logger.warning(ownReason(joined));
      return undefined;
    }
    await relay(sharedEnd(joined, logger), {
      input: process.stdin,
      output: output.sink,
      next: () => nextHub(joining),
      logger,
      signal: io.interrupted,
    });
    return EXIT.ok;
  } finally {
    await telemetry.close();
  }
}

interface JoinContext {
  readonly options: Options;
  readonly io: Io;
  readonly logger: Logger;
}

function withVerbosity({ tree }: LoadedHubConfig, { verbose }: Options): HubConfig {
  const { logging } = tree;
  return { logging: { ...logging, ...(verbose ? { level: "debug" } : {}) } };
}

/** Joins the shared hub. A system error is also a reason to use a separate hub. */
async function join(joining: JoinContext, config: LoadedHubConfig): Promise<JoinResult> {
  const { io } = joining;
  try {
    return await joinAt(await placeOf(joining), joining, config);
  } catch (error) {
    if (io.interrupted.aborted) throw error;
    return { outcome: "failed", reason: messageOf(error) };
  }
}

async function joinAt(place: SharedPlace, { options, io }: JoinContext, config: LoadedHubConfig): Promise<JoinResult> {
  const { toolMode, era, profile, deny } = options;
  await keepLogSmall(place.log);
  return joinOrStart({
    place,
    hello: {
      identity: configIdentity(config, io.env),
      ...(toolMode === undefined ? {} : { mode: toolMode as ToolMode }),
      ...(era === undefined ? {} : { era }),
      ...(profile === undefined ? {} : { profile }),
      ...(deny ? { deny } : {}),
      environment: serverVariables(io.env),
    },
    start: () => startShared(options, io, { place, config }),
    signal: io.interrupted,
  });
}

/** Returns the connection to another hub after the previous one has ended: its successor, or a hub started now. */
async function nextHub(joining: JoinContext): Promise<HubEnd> {
  const { options, io, logger } = joining;
  const config = await sharedConfig({ options, io });
  const joined = await join(joining, config);
  if (joined.outcome === "joined") return sharedEnd(joined, logger);
  logger.warning(ownReason(joined));
  return ownEnd(options, io, config.files);
}

function ownReason(joined: Exclude<JoinResult, { outcome: "joined" }>): string {
  const { outcome, reason } = joined;
  const why =
    outcome === "refused"
      ? `The hub that runs cannot be shared: ${reason}`
      : `The shared hub cannot be used: ${reason}`;
  return `${why.replace(/(?<!\.)\.+$/, "")}. This client gets a separate hub.`;
}

function sharedEnd({ socket, pid, isNew }: Extract<JoinResult, { outcome: "joined" }>, logger: Logger): HubEnd {
  logger.info("This client shares a hub.", { pid, new: isNew });
  return { input: socket, output: socket, destroy: () => void socket.destroy() };
}

/** Returns the command of a hub process. `files` are absolute, because the process may start in another folder. */
function ownCommand(
  { toolMode, era, profile, deny, verbose, watch, config, found, yes }: Options,
  files: readonly string[],
): readonly string[] {
  return [
    ...process.execArgv,
    process.argv[1] ?? "",
    "serve",
    ...files.flatMap((file) => ["--config", file]),
    ...(config === undefined || found ? ["--found"] : []),
    ...(toolMode === undefined ? [] : ["--tool-mode", toolMode]),
    ...(era === undefined ? [] : ["--era", era]),
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(deny ?? []).flatMap((pattern) => ["--deny", pattern]),
    ...(verbose ? ["--verbose"] : []),
    ...(yes ? ["--yes"] : []),
    ...(watch ? [] : ["--no-watch"]),
  ];
}

/** Starts a hub process that outlives this one. Relative paths start at the configuration's folder. */
function startShared(
  options: Options,
  io: Io,
  { place, config }: { readonly place: SharedPlace; readonly config: LoadedHubConfig },
): ChildProcess {
  const log = openSync(place.log, "a", PRIVATE_MODE);
  try {
    const { linger, toolMode: _mode, era: _era, profile: _profile, deny: _deny, ...shared } = options;
    const words = [
      ...ownCommand(shared, config.files),
      "--shared",
      "--for-clients",
      ...(linger === undefined ? [] : ["--linger", linger]),
    ];
    const child = spawn(process.execPath, words, {
      cwd: config.folder,
      env: io.env,
      detached: true,
      windowsHide: true,
      stdio: ["ignore", log, log],
    });
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

const PRIVATE_MODE = 0o600;
const MAX_OLD_LOG_BYTES = 1024 * 1024;

async function keepLogSmall(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats && stats.size > MAX_OLD_LOG_BYTES) await rename(path, `${path}.old`).catch(() => {});
}

/** Starts a hub for this client only, as a child process that ends with this one. */
async function ownEnd(options: Options, io: Io, files: readonly string[]): Promise<HubEnd> {
  const child = spawn(process.execPath, [...ownCommand(options, files), "--stdio"], {
    cwd: io.cwd,
    env: io.env,
    windowsHide: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(child, "spawn").catch((error: unknown) => {
    throw new Error(`a separate hub cannot be started: ${messageOf(error)}`);
  });
  child.stdin.on("error", () => {});
  return { input: child.stdout, output: child.stdin, destroy: () => void child.kill() };
}
