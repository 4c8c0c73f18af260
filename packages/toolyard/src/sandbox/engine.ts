import type { JsonObject } from "../core/json/json.ts";
import type { Holder } from "../core/fairness/shares.ts";

/** Languages that a model may write in. TypeScript becomes JavaScript inside the sandbox: its types are stripped. */
export type SandboxLanguage = "python" | "javascript" | "typescript";

/**
 * `restricted`: only the language and an allow-list of its library (S9); no tools, and no files except those of the
 * job. `scripting`: the same isolation, and the hub's tools can be called.
 */
export type SandboxProfile = "restricted" | "scripting";

/** Limits of one run. The child and the hub both enforce all of them. */
export interface SandboxLimits {
  /** Maximum time in milliseconds from the start of the code to its end, including tool calls. */
  readonly wallMs: number;
  /** Maximum processor time of the code in milliseconds; paused while it waits for a tool. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Maximum size of stdout and stderr together; further output is dropped, which is reported. */
  readonly outputBytes: number;
  /** Maximum size of the result as JSON text. */
  readonly resultBytes: number;
  readonly toolCalls: number;
  readonly concurrentToolCalls: number;
  /** Maximum size of the arguments of one tool call, and of one tool's answer, as JSON text. */
  readonly toolBytes: number;
  /** Maximum size of all input and output files together. */
  readonly fileBytes: number;
  readonly files: number;
}

export interface SandboxFile {
  /** Relative path with `/` between segments, without `..`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface SandboxJob {
  readonly language: SandboxLanguage;
  readonly code: string;
  /** Value of the variable `inputs`. */
  readonly inputs: JsonObject;
  /** Input files, which the run finds in its working folder. */
  readonly files: readonly SandboxFile[];
  readonly profile: SandboxProfile;
  readonly limits: SandboxLimits;
  /**
   * Key of a session, unique over principals. Variables are kept between runs of one session. Absent: a new
   * interpreter.
   */
  readonly session?: string;
  /**
   * Principal of the run. Slots, queue and sessions are divided fairly among principals. Absent: the anonymous
   * principal.
   */
  readonly owner?: Holder;
}

/**
 * Functions of the hub that the code may call. Only JSON text is passed. Neither `call` nor `search` throws for an
 * expected failure.
 */
export interface SandboxHost {
  /** Calls a tool. `path`: the text between `tools.` and the brackets. */
  call(path: string, argumentsJson: string, signal: AbortSignal): Promise<HostReply>;
  search(query: string, limit: number, signal: AbortSignal): Promise<HostReply>;
  /**
   * Receives output while the code runs, within the limit of the outcome. An engine may instead leave all output to the
   * outcome.
   */
  print?(stream: "stdout" | "stderr", text: string): void;
}

export type HostReply =
  /** Value that the tool returned, as JSON text. */
  | { readonly ok: true; readonly json: string }
  /** The code receives a `ToolError` with this message, `kind` and `retryable`. */
  | {
      readonly ok: false;
      readonly kind: string;
      readonly message: string;
      readonly retryable: boolean;
      /** Time after which a retry makes sense. The run waits that long itself if its time limit allows. */
      readonly retryAfterMs?: number;
    };

export interface SandboxError {
  /** Name of the exception, such as `ValueError`, `TypeError` or `ToolError`. */
  readonly type: string;
  readonly message: string;
  /** Stack trace that contains only lines of the code, and nothing of the host. */
  readonly traceback: string;
}

/**
 * Reason why a run ended. Every reason except `finished` is also reported by `error`, unless the code itself threw the
 * error.
 */
export type SandboxEnd =
  | "finished"
  /** The code threw an exception, or is invalid. */
  | "error"
  /** `wallMs` or `cpuMs` is exceeded. */
  | "timeout"
  | "memory"
  /** The result, the files or the number of tool calls exceeds its limit. */
  | "limit"
  /** The caller cancelled. */
  | "cancelled"
  /** The interpreter died, or sent an invalid message. */
  | "crashed"
  /** Nothing was run: too many runs are queued, or every session is in use. A retry may succeed. */
  | "busy"
  /** Nothing was run: the configured engine is not on this machine, or does not support the language. */
  | "unavailable";

export interface SandboxOutcome {
  readonly end: SandboxEnd;
  /** Value as JSON text; absent if there is none (`None`, `undefined`) or the run did not finish. */
  readonly resultJson?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly error?: SandboxError;
  /** All tool calls of the code, in the order of their start. */
  readonly toolCalls: readonly SandboxToolCall[];
  /** Files that the run created or changed. */
  readonly artifacts: readonly SandboxFile[];
  /** True if output was dropped. */
  readonly truncated: boolean;
  readonly durationMs: number;
  /**
   * State of the variables of `job.session`. `new`: there were none; the run started a session. `kept`: the variables
   * of the previous run were available. `lost`: an earlier session of this key has ended (time, memory, a crash,
   * idleness, eviction), so the run started a new one. Absent without a session, and if nothing was run.
   */
  readonly session?: "new" | "kept" | "lost";
  /**
   * True if the run ended its session (it exceeded its time or memory, was cancelled or crashed). The next run starts a
   * new one.
   */
  readonly sessionEnded?: boolean;
}

export interface SandboxToolCall {
  readonly name: string;
  readonly ms: number;
  readonly ok: boolean;
  /** Reason of a failed call; absent if the call was aborted by the end of the run. */
  readonly failure?: { readonly kind: string; readonly message: string };
}

/** Runs code. An engine starts nothing before its first run, and stops its processes after an idle time. */
export interface SandboxEngine {
  /** Name of the engine: `embedded`, `bwrap`, `deno` or `bwrap-python`. */
  readonly name: string;
  readonly languages: readonly SandboxLanguage[];
  /** Short description of the isolation of the code from the machine. */
  readonly isolation: string;
  /**
   * Returns why the engine cannot be used on this machine, and what to do; `undefined` if it can. With `language`, also
   * checks that the installations for this language exist.
   */
  unavailable(language?: SandboxLanguage): Promise<string | undefined>;
  /** Runs a job. Never rejects because of the code. */
  run(job: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxOutcome>;
  /** Ends all processes and runs. */
  dispose(): Promise<void>;
}
