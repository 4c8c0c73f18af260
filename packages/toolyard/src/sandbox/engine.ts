import type { JsonObject } from "../core/json/json.ts";
import type { Holder } from "../core/fairness/shares.ts";

/** Languages that a model may write in. TypeScript is JavaScript once its types are stripped, inside the sandbox. */
export type SandboxLanguage = "python" | "javascript" | "typescript";

/**
 * `restricted`: nothing but the language and a list of its library (S9); no tools, no files beyond the job's own.
 * `scripting`: the same walls, and the hub's tools are within reach.
 */
export type SandboxProfile = "restricted" | "scripting";

/** Limits of one run. The child and the hub each enforce all of them. */
export interface SandboxLimits {
  /** Time from the start of the code to its end, tool calls included. */
  readonly wallMs: number;
  /** Computing time of the code; paused while it waits for a tool. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** stdout and stderr together; the rest is dropped and reported. */
  readonly outputBytes: number;
  /** Size of the result as JSON text. */
  readonly resultBytes: number;
  readonly toolCalls: number;
  readonly concurrentToolCalls: number;
  /** Size of one tool call's arguments, and of one tool's answer, as JSON text. */
  readonly toolBytes: number;
  /** Size of all files together, input and output. */
  readonly fileBytes: number;
  readonly files: number;
}

export interface SandboxFile {
  /** Relative, `/` between steps, no `..`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface SandboxJob {
  readonly language: SandboxLanguage;
  readonly code: string;
  /** Bound to the variable `inputs`. */
  readonly inputs: JsonObject;
  /** Lie in the working folder of the run. */
  readonly files: readonly SandboxFile[];
  readonly profile: SandboxProfile;
  readonly limits: SandboxLimits;
  /**
   * Variables stay between runs of the same session. The key is unique over principals. Absent: a fresh interpreter.
   */
  readonly session?: string;
  /** Principal of the run: slots, queue and sessions are divided among owners. Absent: the anonymous owner. */
  readonly owner?: Holder;
}

/**
 * Functions that the code may call in the hub. Only JSON text is passed. Neither `call` nor `search` throws for an
 * expected failure.
 */
export interface SandboxHost {
  /** `path`: what stood between `tools.` and the brackets. */
  call(path: string, argumentsJson: string, signal: AbortSignal): Promise<HostReply>;
  search(query: string, limit: number, signal: AbortSignal): Promise<HostReply>;
  /**
   * Receives output while the code runs, within the limit of the outcome; an engine may leave all output to the
   * outcome.
   */
  print?(stream: "stdout" | "stderr", text: string): void;
}

export type HostReply =
  /** JSON text of the tool's value. */
  | { readonly ok: true; readonly json: string }
  /** Becomes a `ToolError` with this message, `kind` and `retryable` in the code. */
  | {
      readonly ok: false;
      readonly kind: string;
      readonly message: string;
      readonly retryable: boolean;
      /** When it makes sense to ask again; the run waits that long by itself, if its time allows. */
      readonly retryAfterMs?: number;
    };

export interface SandboxError {
  /** Name of the exception: `ValueError`, `TypeError`, `ToolError`. */
  readonly type: string;
  readonly message: string;
  /** Lines of the code that was run only: nothing of the host. */
  readonly traceback: string;
}

/** How a run ended. Everything but `finished` is also reported by `error`, unless the code itself raised it. */
export type SandboxEnd =
  | "finished"
  /** The code threw, or could not be read. */
  | "error"
  /** `wallMs` or `cpuMs` is over. */
  | "timeout"
  | "memory"
  /** Result, files, or number of tool calls over their bound. */
  | "limit"
  /** The caller went. */
  | "cancelled"
  /** The interpreter died, or spoke nonsense. */
  | "crashed"
  /** Nothing was run: too many runs wait already, or every session is in use. Worth another try. */
  | "busy"
  /** Nothing was run: the configured engine is not on this machine, or does not know the language. */
  | "unavailable";

export interface SandboxOutcome {
  readonly end: SandboxEnd;
  /** JSON text of the value; absent when there is none (`None`, `undefined`), or the run did not finish. */
  readonly resultJson?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly error?: SandboxError;
  /** Every tool call that the code made, in the order in which they began. */
  readonly toolCalls: readonly SandboxToolCall[];
  /** Files that the run made or changed. */
  readonly artifacts: readonly SandboxFile[];
  /** Output was left out. */
  readonly truncated: boolean;
  readonly durationMs: number;
  /**
   * State of the variables of `job.session`. `new`: there were none; the run began a session. `kept`: the variables of
   * the previous run were available. `lost`: an earlier session of this key has ended (time, memory, a crash, idleness,
   * eviction), so the run began a new one. Absent without a session, and if nothing was run.
   */
  readonly session?: "new" | "kept" | "lost";
  /**
   * The run took its session with it (it ran out of time or memory, was cancelled or crashed): the next one begins
   * anew.
   */
  readonly sessionEnded?: boolean;
}

export interface SandboxToolCall {
  readonly name: string;
  readonly ms: number;
  readonly ok: boolean;
  /** Why it failed; absent for one that the end of the run cut off. */
  readonly failure?: { readonly kind: string; readonly message: string };
}

/** A way to run code. An engine starts nothing before its first run, and stops its processes after an idle time. */
export interface SandboxEngine {
  /** `embedded`, `bwrap`, `deno`, `bwrap-python`. */
  readonly name: string;
  readonly languages: readonly SandboxLanguage[];
  /** Isolation of the code from the machine, in a few words. */
  readonly isolation: string;
  /**
   * Returns why the engine cannot be used on this machine, and what to do; with `language`, also what that language
   * needs and is not installed. `undefined` when it can.
   */
  unavailable(language?: SandboxLanguage): Promise<string | undefined>;
  /** Never rejects for anything that the code does. */
  run(job: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxOutcome>;
  /** Ends everything that runs. */
  dispose(): Promise<void>;
}
