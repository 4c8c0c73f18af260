// Runs a tool in a persistent interpreter, without a process start per call. The first call starts it.
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Call } from "../../core/calls/call.ts";
import { variablesOfContext } from "../../core/trace-context.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { ok, type Outcome } from "../../core/calls/outcome.ts";
import { spawnChild } from "../../process/child.ts";
import type { ScriptNotifications } from "../scripts/script-notifications.ts";
import { ChildMessages } from "../scripts/child-messages.ts";
import { interpreterCommandLine, warmShim, type CommandLine } from "../scripts/command-line.ts";
import { contain } from "../scripts/contain.ts";
import { exitOfTool, limitOutcome } from "../scripts/exit-status.ts";
import { hidePaths } from "../scripts/hide-paths.ts";
import { withPackageAdvice } from "../scripts/missing-package.ts";
import { findVenv } from "../scripts/venv.ts";
import { EXTRA_PIPES } from "../scripts/run-child.ts";
import { assertScript, scriptEnvironment, type ScriptEnvironment } from "../scripts/run-script.ts";
import type { RunSettings } from "../scripts/run-settings.ts";
import type { ScriptHost } from "../scripts/script-host.ts";
import {
  exceptionOutcome,
  executeOutcome,
  failureOutcome,
  successOutcome,
  textResult,
  valueResult,
} from "../scripts/script-result.ts";
import { withNotifications } from "../scripts/with-notifications.ts";
import { settledStamp, stampCode, type CodeStamp } from "./code-stamp.ts";
import { WarmPools } from "./warm-pools.ts";
import { WarmProcess, type WarmEnd } from "./warm-process.ts";

/** A file with a function for a persistent interpreter. */
export interface WarmTool {
  readonly name: string;
  readonly folder: string;
  /** Folder that must contain the file, symbolic links resolved. */
  readonly root: string;
  readonly file: string;
  /**
   * Function that is called. `run`: with the arguments (by name in Python, as one object in JavaScript); if it returns
   * nothing, its printed output is the result. `execute`: as in tool folders; printed output becomes log messages.
   */
  readonly function: "run" | "execute";
  /** Program and first arguments, which override those for the file's suffix. */
  readonly command?: readonly string[];
  readonly environment: ScriptEnvironment;
  readonly settings: RunSettings;
}

const pools = new WeakMap<ScriptHost, WarmPools>();

/** Runs a tool once in its interpreter. Never throws for an expected failure. */
export function runWarm(tool: WarmTool, call: Call, host: ScriptHost): Promise<Outcome> {
  return withNotifications(tool, { call, host }, async (notifications) => {
    const messages = new ChildMessages(call, host, notifications);
    const end = await messages.during((channel) => runOnce(tool, { call, host, notifications, channel }));
    return toOutcome(tool, end, { messages, notifications });
  });
}

interface WarmRun {
  readonly call: Call;
  readonly host: ScriptHost;
  readonly notifications: ScriptNotifications;
  readonly channel: Parameters<Parameters<ChildMessages["during"]>[0]>[0];
}

async function runOnce(tool: WarmTool, running: WarmRun): Promise<WarmEnd> {
  const end = await attempt(tool, running);
  // If the interpreter exited while idle, only the next message detects that. The tool's code has not run, so the call
  // is repeated.
  return end.exit && !end.hasBegun ? attempt(tool, running) : end;
}

function attempt(tool: WarmTool, { call, host, notifications, channel }: WarmRun): Promise<WarmEnd> {
  const { settings } = tool;
  const signals = [call.signal, host.closing];
  const log = (line: string) => notifications.log(line);
  return poolOf(tool, host).use(signals, (one) =>
    one.run({
      args: call.arguments,
      variables: variablesOfContext(call.meta),
      channel,
      ...(tool.function === "execute" ? { onStdout: log } : {}),
      onStderr: log,
      maxOutputBytes: settings.limits.outputBytes ?? host.maxOutputBytes,
      cpuMs: settings.limits.cpuMs,
      signals,
    }),
  );
}

function poolOf(tool: WarmTool, host: ScriptHost): ReturnType<WarmPools["of"]> {
  let mine = pools.get(host);
  if (!mine) {
    mine = new WarmPools(host.closing);
    pools.set(host, mine);
  }
  const leftOut = tool.settings.isolation.write.map((place) => `${tool.folder}/${place}`);
  const folders = Array.from(new Set([tool.folder, dirname(tool.file), ...host.libraries]));
  const stamp = () => stampCode(folders, leftOut);
  return mine.of(tool.file, JSON.stringify(tool), {
    ...tool.settings.run,
    name: tool.name,
    stamp,
    start: () => start(tool, stamp, host),
  });
}

async function start(tool: WarmTool, stamp: () => CodeStamp, host: ScriptHost): Promise<WarmProcess> {
  const { name, folder, root, environment, settings } = tool;
  const file = assertScript(name, tool.file, root);
  const venv = findVenv(folder, root);
  const env = scriptEnvironment(environment, host, {});
  const line = await interpreterOf({ ...tool, file }, env, host);
  const shim = fileURLToPath(new URL(warmShim(file)!, import.meta.url));
  const whole = { command: line.command, args: [...line.args, shim, file, tool.function] };
  const contained = await contain({
    name,
    folder,
    root,
    settings,
    env,
    line: whole,
    reads: [dirname(realpathSync(file)), ...(venv ? [venv.folder] : [])],
    extraPipes: EXTRA_PIPES,
    isLasting: true,
  });
  const child = await spawnChild({ ...contained, cwd: folder, extraPipes: EXTRA_PIPES });
  host.living.add(child);
  void child.gone.then(() => host.living.delete(child));
  // The stamp is taken before the first call, because that call loads the file.
  return new WarmProcess(child, await settledStamp(stamp), (text) => host.logger.debug(text, { tool: name }));
}

async function interpreterOf(
  tool: WarmTool,
  env: Readonly<Record<string, string>>,
  host: ScriptHost,
): Promise<CommandLine> {
  const { command, file, folder, root } = tool;
  const [program, ...args] = command ?? [];
  if (program !== undefined) return { command: program, args };
  return interpreterCommandLine(file, { cwd: folder, root, env, ...(await host.pythonFor(tool)) });
}

interface WarmOutput {
  readonly messages: ChildMessages;
  readonly notifications: ScriptNotifications;
}

function toOutcome(
  tool: WarmTool,
  { message, exit, stdout, stderr }: WarmEnd,
  { messages, notifications }: WarmOutput,
): Outcome {
  const clean = (text: string) => hidePaths(text, [tool.folder, tool.root]);
  if (!message) return endedEarly(tool, { exit: exit!, stdout, stderr: withPackageAdvice(clean(stderr.text())) });
  const { error, result } = message;
  if (isJsonObject(error)) return exceptionOutcome(error, (text) => withPackageAdvice(clean(text)));
  const said = messages.outcome(clean, stdout);
  if (said) return said;
  if (tool.function === "execute") return executeOutcome(result ?? null);
  if (result === undefined) return stdout.length === 0 ? ok(textResult("")) : successOutcome(stdout);
  for (const line of stdout.toString("utf8").split("\n")) if (line !== "") notifications.log(line);
  return valueResult(result);
}

function endedEarly({ settings }: WarmTool, { exit, stdout, stderr }: Parameters<typeof failureOutcome>[0]): Outcome {
  const mine = exitOfTool(exit, settings);
  return limitOutcome(mine, settings) ?? failureOutcome({ exit: mine, stdout, stderr });
}
