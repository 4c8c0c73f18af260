import { bytesOption } from "../core/text/bytes.ts";
import { durationOption } from "../core/text/duration.ts";
import { Type, type Static } from "../core/options/option-schema.ts";
import { readOptions, type AmountBounds, type ValuesOf } from "../core/options/option-values.ts";
import type { Starts } from "../core/sources/table-facts.ts";
import type { SandboxLimits } from "./engine.ts";

export const SANDBOX_ENGINES = ["embedded", "bwrap", "deno", "bwrap-python"] as const;
/** Engines that support Python. Below: engines that support JavaScript and TypeScript. */
const PYTHON_ENGINES = ["embedded", "bwrap", "bwrap-python"] as const;
const JAVASCRIPT_ENGINES = ["embedded", "bwrap", "deno"] as const;
export type SandboxEngineName = (typeof SANDBOX_ENGINES)[number];

/**
 * Limits of the memory option. At the minimum, two interpreters and the hub fit on a small machine. The maximum is that
 * of WebAssembly, 4 GiB.
 */
const MEMORY: AmountBounds = {
  least: 32 * 1024 ** 2,
  most: 4 * 1024 ** 3 - 65_536,
  must: "must be between 32MiB and 4GiB",
};
/** Upper limit of all size options, because larger data would not fit into one frame between the processes. */
const SIZE: AmountBounds = { most: 256 * 1024 ** 2, must: "must be at most 256MiB" };
/** Limits of time options. Timers overflow above the maximum. */
const TIME: AmountBounds = { above: 0, most: 2 ** 31 - 1, must: "must be above 0 and at most 24 days" };

/** The section `[sandbox]`. */
export const SandboxSchema = Type.Object(
  {
    engine: Type.Optional(
      Type.Enum(SANDBOX_ENGINES, {
        description:
          "Engine in which code runs. `embedded`: interpreters in WebAssembly, in a child process without " +
          "rights; Python needs the extra `python`. The others need a program on this machine; if it is " +
          "missing, code is refused, and never run in another engine. `deno` does not run Python and " +
          "`bwrap-python` runs nothing else: set the engine of the other languages with the two keys below. " +
          "`toolyard doctor` shows the available engines.",
        default: "embedded",
      }),
    ),
    python_engine: Type.Optional(
      Type.Enum(PYTHON_ENGINES, { description: "Engine for Python, if it differs from `engine`." }),
    ),
    javascript_engine: Type.Optional(
      Type.Enum(JAVASCRIPT_ENGINES, {
        description: "Engine for JavaScript and TypeScript, if it differs from `engine`.",
      }),
    ),
    timeout: Type.Optional(
      durationOption(
        {
          description: "Time limit of a run, including its tool calls, if the caller sets none.",
          default: "30s",
        },
        TIME,
      ),
    ),
    max_timeout: Type.Optional(
      durationOption({ description: "Maximum time that a caller may request.", default: "5m" }, TIME),
    ),
    cpu_time: Type.Optional(
      durationOption(
        {
          description: "Maximum CPU time of the code; waiting does not count.",
          default: "10s",
        },
        TIME,
      ),
    ),
    memory: Type.Optional(
      bytesOption({ description: "Maximum memory of one interpreter.", default: "256MiB" }, MEMORY),
    ),
    output: Type.Optional(
      bytesOption({ description: "Maximum output of a run; the rest is omitted.", default: "256KiB" }, SIZE),
    ),
    result: Type.Optional(
      bytesOption({ description: "Maximum size of the result of a run, as JSON.", default: "1MiB" }, SIZE),
    ),
    tool_calls: Type.Optional(
      Type.Integer({
        description: "Maximum number of tool calls of one run.",
        default: 1000,
        minimum: 0,
        maximum: 10_000,
      }),
    ),
    parallel_tool_calls: Type.Optional(
      Type.Integer({
        description: "Maximum number of concurrent tool calls of one run; further calls wait.",
        default: 8,
        minimum: 1,
        maximum: 256,
      }),
    ),
    tool_bytes: Type.Optional(
      bytesOption(
        {
          description: "Maximum size of the arguments, and of the answer, of one tool call inside a run.",
          default: "8MiB",
        },
        SIZE,
      ),
    ),
    files: Type.Optional(
      Type.Integer({ description: "Maximum number of files of a run.", default: 64, minimum: 0, maximum: 10_000 }),
    ),
    file_bytes: Type.Optional(
      bytesOption({ description: "Maximum total size of the files of a run.", default: "16MiB" }, SIZE),
    ),
    runs: Type.Optional(
      Type.Integer({
        description:
          "Maximum number of concurrent runs; further runs wait. With several principals (tokens), up to " +
          "half of them are kept for principals that have no run yet, one for each.",
        default: 4,
        minimum: 1,
        maximum: 64,
      }),
    ),
    queue: Type.Optional(
      Type.Integer({
        description: "Maximum number of waiting runs; further runs are refused.",
        default: 32,
        minimum: 0,
        maximum: 10_000,
      }),
    ),
    idle: Type.Optional(
      durationOption(
        {
          description:
            "Time without a run and without a session after which the child process is stopped. " +
            "The next run starts it again.",
          default: "5m",
        },
        TIME,
      ),
    ),
    sessions: Type.Optional(
      Type.Integer({
        description: "Maximum number of sessions that keep their variables; the least recently used one ends first.",
        default: 8,
        minimum: 0,
        maximum: 64,
      }),
    ),
    session_idle: Type.Optional(
      durationOption(
        { description: "Time without a run after which a session ends and its variables are lost.", default: "10m" },
        TIME,
      ),
    ),
    python: Type.Optional(
      Type.String({
        description: "The Python of the engine `bwrap-python`: a name on PATH, or a path. 3.11 or newer.",
        default: "python3",
        minLength: 1,
      }),
    ),
    deno: Type.Optional(
      Type.String({
        description: "The program of the engine `deno`: a name on PATH, or a path. 2.0 or newer.",
        default: "deno",
        minLength: 1,
      }),
    ),
    python_wasm: Type.Optional(
      Type.Path({
        description:
          "Build of CPython for WASI (`python.wasm`, preview 1, with its library) that replaces the one of " +
          "the extra `python`.",
      }),
    ),
  },
  { description: "Sandbox for code written by models and callers, and its limits." },
);

/** Options that name programs and builds. */
const PROGRAMS = ["python", "deno", "python_wasm"];
export const SANDBOX_STARTS: Starts = { keys: PROGRAMS, shownKeys: PROGRAMS };

export type SandboxConfig = Static<typeof SandboxSchema>;

export interface SandboxOptions {
  readonly pythonEngine: SandboxEngineName;
  /** Engine for JavaScript and TypeScript. */
  readonly javascriptEngine: SandboxEngineName;
  /** Limits of a run that sets none, and the maximum that a job may request; `wallMs` may be raised to `maxWallMs`. */
  readonly limits: SandboxLimits;
  readonly maxWallMs: number;
  readonly runs: number;
  /**
   * Number of principals that the hub knows. If there are several, no single one can occupy all slots. @default the
   * principals seen so far
   */
  readonly principals?: number;
  readonly queue: number;
  readonly idleMs: number;
  readonly sessions: number;
  readonly sessionIdleMs: number;
  /** Python program: a name on PATH, or a path. */
  readonly python: string;
  readonly deno: string;
  /** Absolute path of a Python build for WebAssembly; absent: the build of the extra `python`. */
  readonly pythonWasm?: string;
}

export function resolveSandbox(raw: SandboxConfig = {}): SandboxOptions {
  const options = readOptions(SandboxSchema, raw);
  const { runs, queue, sessions, python, deno, python_wasm: pythonWasm } = options;
  return Object.freeze({
    pythonEngine: options.python_engine ?? options.engine,
    javascriptEngine: options.javascript_engine ?? options.engine,
    limits: limitsOf(options),
    maxWallMs: Math.max(options.timeout, options.max_timeout),
    runs,
    queue,
    idleMs: options.idle,
    sessions,
    sessionIdleMs: options.session_idle,
    python,
    deno,
    ...(pythonWasm !== undefined && { pythonWasm }),
  });
}

function limitsOf(options: ValuesOf<typeof SandboxSchema>): SandboxLimits {
  return Object.freeze({
    wallMs: options.timeout,
    cpuMs: options.cpu_time,
    memoryBytes: options.memory,
    outputBytes: options.output,
    resultBytes: options.result,
    toolCalls: options.tool_calls,
    concurrentToolCalls: options.parallel_tool_calls,
    toolBytes: options.tool_bytes,
    fileBytes: options.file_bytes,
    files: options.files,
  });
}
