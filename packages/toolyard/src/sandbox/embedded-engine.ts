import { missingExtra } from "../extras/import-extra.ts";
import { childPaths } from "./node-flags.ts";
import type { ChildSettings, InterpreterName } from "./child-messages.ts";
import { HostedEngine } from "./hosted-engine.ts";
import { resolveSandbox, type SandboxOptions } from "./options.ts";
import { SandboxProcess, type SandboxProcessOptions } from "./sandbox-process.ts";

/** Space in a frame beyond results, arguments and files. */
const FRAME_SLACK_BYTES = 1024 * 1024;

/** Seams for tests, and for engines that put a wall of their own around the same child. */
export interface EmbeddedEngineSeams {
  readonly name?: string;
  readonly isolation?: string;
  /** Why the wall cannot be had; asked once the packages are known to be there. */
  readonly unavailable?: () => Promise<string | undefined>;
  /** Command that starts the child, see `SandboxProcessOptions.command`. */
  readonly command?: (settings: ChildSettings) => readonly string[];
  /** The same, with files for the child. */
  readonly wall?: (settings: ChildSettings) => Promise<Pick<SandboxProcessOptions, "command" | "files">>;
}

export type EmbeddedEngine = HostedEngine;

/**
 * The engine that is always there: interpreters in WebAssembly (QuickJS, CPython), each in a worker thread of one child
 * process that has no rights. Nothing is started before the first run.
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
    return "The packages `quickjs-wasi` and `sucrase` are not installed. Install this program with its dependencies.";
  }
}

/** Searched again at each run, so that an install takes effect without a restart of the hub. */
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

/** The largest message between hub and child. */
export function maxFrameBytesOf({
  limits: { fileBytes, resultBytes, toolBytes, outputBytes },
}: SandboxOptions): number {
  // Text may grow sixfold as JSON inside JSON.
  return fileBytes + 6 * (Math.max(resultBytes, toolBytes) + outputBytes) + FRAME_SLACK_BYTES;
}
