import type { HostOperation } from "./guest/host.ts";
import type { SourceText } from "./source-error.ts";

/** Serves the requests of the code. Throws a `Refusal` if one is not allowed. */
export interface GuestOwner {
  answer(operation: HostOperation, first: string, second: string | Uint8Array): string | Uint8Array | undefined;
  /** Asked all the time while code computes: whether it must stop. */
  isOver(): boolean;
}

/** Calls of the guest's own functions, see `Guest` in `guest/prelude.ts`. */
export type GuestMethod = "begin" | "watch" | "settle" | "fire" | "describe";

/** A value of the inside, held from outside. */
export interface HeldValue {
  dispose(): void;
}

export interface EvaluatedCode {
  /** Promise of the code's end. */
  readonly promise: HeldValue;
  /**
   * The code ran as a function, and the promise's value is its own; else it is an object with the value as its `value`.
   */
  readonly isWrapped: boolean;
}

/** An interpreter of JavaScript with the prelude in it, as a run uses it. */
export interface GuestMachine {
  owner: GuestOwner | undefined;
  /** Begins to run code. Throws what `describe` can tell of. */
  evaluate(source: SourceText): EvaluatedCode;
  call(method: GuestMethod, ...given: readonly (string | boolean | HeldValue)[]): string | undefined;
  /** Runs what promises set off, until nothing is left to run; where that cannot be asked for, `whenQuiet` is later. */
  runJobs(): void;
  whenQuiet(then: () => void): void;
  /**
   * JSON of type, message and stack, when the error is one of the code; `undefined` when the interpreter itself failed.
   */
  describe(error: unknown): string | undefined;
  /** Returns the error of the first unhandled rejection, as formatted by `describe`. */
  firstRejection(): string | undefined;
  forgetRejections(): void;
}
