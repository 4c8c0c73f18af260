import { missingExtra } from "../extras/import-extra.ts";
import { childPaths } from "./node-flags.ts";
import type { ChildSettings, InterpreterName } from "./child-messages.ts";
import { HostedEngine } from "./hosted-engine.ts";
import { resolveSandbox, type SandboxOptions } from "./options.ts";
import { SandboxProcess, type SandboxProcessOptions } from "./sandbox-process.ts";

/** Additional size of a frame, beyond results, arguments and files. */
const FRAME_SLACK_BYTES = 1024 * 1024;

/** Replaceable parts, for tests and for engines that isolate the same child in another way. */
export interface EmbeddedEngineSeams {
  readonly name?: string;
  readonly isolation?: string;
  /** Returns why the isolation is unavailable. Called only if the packages are installed. */
  readonly unavailable?: () => Promise<string | undefined>;
  /** Returns the command that starts the child, see `SandboxProcessOptions.command`. */
  readonly command?: (settings: ChildSettings) => readonly string[];
  /** Like `command`, but asynchronous, and with files for the child. Replaces `command`. */
  readonly wall?: (settings: ChildSettings) => Promise<Pick<SandboxProcessOptions, "command" | "files">>;
}

export type EmbeddedEngine = HostedEngine;

/**
 * Creates the engine that works on every machine: interpreters in WebAssembly (QuickJS, CPython), each in a worker
 * thread of one child process without rights. Nothing is started before the first run.
 */
export function createEmbeddedEngine(
  options: SandboxOptions = resolveSandbox(),
  seams: EmbeddedEngineSeams = {},
): EmbeddedEngine {
  return new HostedEngine(options, {
    name: seams.name ?? "embedded",
    languages: ["python", "javascript", "typescript"],
    isolation: seams.isolation ?? "WebAssembly in a child process without rights",
    unavailable: async () => missingPackages(options) ?? (await seams.unavailable?.()),
    missingFor: (language) => (language === "python" ? missingPython(options) : undefined),
    start: (first, onSessions) => startChild(options, seams, { first, onSessions }),
  });
}

function missingPackages({ pythonWasm }: SandboxOptions): string | undefined {
  try {
    childPaths(pythonWasm);
    return undefined;
  } catch {
    return "The package `quickjs-wasi` is not installed. Install this program with its dependencies.";
  }
}

/**
 * Returns why Python is unavailable. Checked at each run, so that an installation takes effect without a restart of the
 * hub.
 */
function missingPython({ pythonWasm }: SandboxOptions): string | undefined {
  if (childPaths(pythonWasm).pythonWasm !== undefined) return undefined;
  return `${missingExtra("python")} Or set \`python_wasm\` of [sandbox] to another CPython built for WASI.`;
}

async function startChild(
  options: SandboxOptions,
  { command, wall }: EmbeddedEngineSeams,
  { first, onSessions }: { readonly first: InterpreterName; readonly onSessions: () => void },
): Promise<SandboxProcess> {
  const { limits, runs, sessions, sessionIdleMs, pythonWasm } = options;
  const maxFrameBytes = maxFrameBytesOf(options);
  const settings: ChildSettings = {
    ...childPaths(pythonWasm),
    memoryBytes: limits.memoryBytes,
    maxFrameBytes,
    runs,
    sessions,
    sessionIdleMs,
    first,
  };
  return SandboxProcess.start({
    settings,
    maxFrameBytes,
    onSessions,
    ...(command ? { command: command(settings) } : await wall?.(settings)),
  });
}

/** Returns the maximum size of a message between hub and child. */
export function maxFrameBytesOf({
  limits: { fileBytes, resultBytes, toolBytes, outputBytes },
}: SandboxOptions): number {
  // Text may become six times as long if JSON is encoded inside JSON.
  return fileBytes + 6 * (Math.max(resultBytes, toolBytes) + outputBytes) + FRAME_SLACK_BYTES;
}
