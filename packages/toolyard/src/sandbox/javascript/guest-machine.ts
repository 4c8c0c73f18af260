import type { HostOperation } from "./guest/host.ts";
import type { SourceText } from "./source-error.ts";

/** Answers the requests of the code in a guest. `answer` throws a `Refusal` for a request that is not allowed. */
export interface GuestOwner {
  answer(operation: HostOperation, first: string, second: string | Uint8Array): string | Uint8Array | undefined;
  /** Called frequently while code computes. Returns whether the code must stop. */
  isOver(): boolean;
}

/** Functions of the guest that the worker calls, see `Guest` in `guest/prelude.ts`. */
export type GuestMethod = "begin" | "watch" | "settle" | "fire" | "describe";

/** A value inside the interpreter, held from outside. */
export interface HeldValue {
  dispose(): void;
}

export interface EvaluatedCode {
  /** Promise that is settled when the code ends. */
  readonly promise: HeldValue;
  /**
   * True: the code ran as a function, and the promise resolves to its value. False: the promise resolves to an object
   * whose `value` is the value of the code.
   */
  readonly isWrapped: boolean;
}

/** A JavaScript interpreter, initialized with the prelude. */
export interface GuestMachine {
  owner: GuestOwner | undefined;
  /** Starts to run code. The thrown value can be passed to `describe`. */
  evaluate(source: SourceText): EvaluatedCode;
  call(method: GuestMethod, ...given: readonly (string | boolean | HeldValue)[]): string | undefined;
  /**
   * Runs promise jobs until none is left. If the interpreter cannot do that synchronously, `whenQuiet` must be used.
   */
  runJobs(): void;
  whenQuiet(then: () => void): void;
  /**
   * Returns type, message and stack as JSON for an error of the code; `undefined` if the interpreter itself failed.
   */
  describe(error: unknown): string | undefined;
  /** Returns the error of the first unhandled rejection, as formatted by `describe`. */
  firstRejection(): string | undefined;
  forgetRejections(): void;
}
