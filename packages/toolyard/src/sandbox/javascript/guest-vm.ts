import type * as quickjsModule from "quickjs-wasi";
import type { JSValueHandle, QuickJS, QuickJSOptions } from "quickjs-wasi";
import type { EvaluatedCode, GuestMachine, GuestMethod, GuestOwner } from "./guest-machine.ts";
import type { HostOperation } from "./guest/host.ts";
import { preludeSource } from "./guest/prelude.ts";
import { HostRefusal } from "./refusal.ts";
import type { SourceText } from "./source-error.ts";

export type QuickJsModule = typeof quickjsModule;

/**
 * Maximum size of the interpreter's stack. Deeper recursion causes a `RangeError` in the code. The thread's own stack
 * is far larger.
 */
const MAX_STACK_BYTES = 384 * 1024;
/** Maximum number of recorded unhandled rejections. Only the first one becomes the error of a run. */
const MAX_REJECTIONS = 100;
/**
 * One QuickJS interpreter. Only texts, bytes and booleans cross its boundary, and code inside cannot reach any value of
 * the host.
 */
export class GuestVm implements GuestMachine {
  owner: GuestOwner | undefined;
  readonly #vm: QuickJS;
  readonly #quickjs: QuickJsModule;
  readonly #guest: JSValueHandle;
  readonly #methods = new Map<GuestMethod, JSValueHandle>();
  readonly #rejections = new Map<number, readonly [JSValueHandle, JSValueHandle]>();
  /** Answer to the last host call. It must be released here after the interpreter has made its own reference. */
  #lastAnswer: JSValueHandle | undefined;

  static async create(quickjs: QuickJsModule, module: object, memoryBytes: number): Promise<GuestVm> {
    const hooks: { guest?: GuestVm } = {};
    const options: QuickJSOptions = {
      wasm: module as WebAssembly.Module,
      memoryLimit: memoryBytes,
      maxStackSize: MAX_STACK_BYTES,
      timezoneOffset: 0,
      interruptHandler: () => hooks.guest?.owner?.isOver() ?? false,
      onUnhandledRejection: (promise, reason, isHandled) => hooks.guest?.rejected(promise, reason, isHandled),
      moduleLoader: {
        load: (name) => {
          throw new Error(`"${name}" cannot be loaded: there are no modules here.`);
        },
      },
    };
    const vm = await quickjs.QuickJS.create(options);
    hooks.guest = new GuestVm(quickjs, vm);
    return hooks.guest;
  }

  private constructor(quickjs: QuickJsModule, vm: QuickJS) {
    this.#quickjs = quickjs;
    this.#vm = vm;
    const make = vm.evalCode(preludeSource(), PRELUDE_NAME);
    const host = vm.newFunction("host", (operation, first, second) =>
      this.#give(this.#answer(operation, first, second)),
    );
    this.#guest = vm.callFunction(make, vm.undefined, host);
    host.dispose();
    make.dispose();
  }

  evaluate({ code, name, wrapped }: SourceText): EvaluatedCode {
    try {
      return { promise: this.#vm.evalCode(code, name, this.#quickjs.EvalFlags.ASYNC), isWrapped: false };
    } catch (error) {
      const described = this.describe(error);
      // The code is wrapped in a function if it contains `return` or `using`, which are allowed only in functions.
      if (described === undefined || !NEEDS_FUNCTION.test(described))
        throw described === undefined ? error : new DescribedError(described);
      return { promise: this.#vm.evalCode(wrapped, name, this.#quickjs.EvalFlags.TYPE_GLOBAL), isWrapped: true };
    }
  }

  /** Calls `then` immediately, because no job is left after `runJobs`. */
  whenQuiet(then: () => void): void {
    then();
  }

  call(method: GuestMethod, ...given: readonly (string | boolean | JSValueHandle)[]): string | undefined {
    const vm = this.#vm;
    const made: JSValueHandle[] = [];
    const handles = given.map((value) => {
      if (typeof value === "boolean") return value ? vm.true : vm.false;
      if (typeof value !== "string") return value;
      const handle = vm.newString(value);
      made.push(handle);
      return handle;
    });
    try {
      const result = vm.callFunction(this.#method(method), this.#guest, ...handles);
      const text = result.isString ? result.toString() : undefined;
      result.dispose();
      return text;
    } finally {
      for (const handle of made) handle.dispose();
    }
  }

  /** Runs promise jobs until none is left. */
  runJobs(): void {
    this.#vm.executePendingJobs();
  }

  /**
   * Returns type, message and stack as JSON for an error of the code; `undefined` if the interpreter itself failed.
   */
  describe(error: unknown): string | undefined {
    if (error instanceof DescribedError) return error.json;
    if (!(error instanceof this.#quickjs.JSException)) return undefined;
    try {
      return this.call("describe", error.handle);
    } finally {
      error.dispose();
    }
  }

  dispose(): void {
    this.#vm.dispose();
  }

  /** Called when a promise is rejected without a handler, or is handled later. */
  rejected(promise: JSValueHandle, reason: JSValueHandle, isHandled: boolean): void {
    const { identity } = promise;
    if (isHandled) return this.#forget(identity);
    // The promise is kept too: its key is its address, which another promise could get after this one was freed.
    if (this.#rejections.size < MAX_REJECTIONS) this.#rejections.set(identity, [reason.dup(), promise.dup()]);
  }

  /** Returns the error of the first unhandled rejection, as formatted by `describe`. */
  firstRejection(): string | undefined {
    for (const [reason] of this.#rejections.values()) return this.call("describe", reason);
    return undefined;
  }

  forgetRejections(): void {
    for (const identity of Array.from(this.#rejections.keys())) this.#forget(identity);
  }

  #forget(identity: number): void {
    for (const handle of this.#rejections.get(identity) ?? []) handle.dispose();
    this.#rejections.delete(identity);
  }

  #method(name: GuestMethod): JSValueHandle {
    let method = this.#methods.get(name);
    if (!method) this.#methods.set(name, (method = this.#guest.getProp(name)));
    return method;
  }

  #answer(
    operation: JSValueHandle | undefined,
    first: JSValueHandle | undefined,
    second: JSValueHandle | undefined,
  ): string | Uint8Array | undefined {
    try {
      if (!operation?.isString || !first?.isString || !second)
        throw new HostRefusal("This is not a valid request to the host.");
      const payload = second.isString ? second.toString() : second.toUint8Array();
      const answer = this.owner?.answer(operation.toString() as HostOperation, first.toString(), payload);
      return typeof answer === "string" ? `=${answer}` : answer;
    } catch (error) {
      return `!${error instanceof HostRefusal ? error.message : "The host could not do that."}`;
    }
  }

  #give(answer: string | Uint8Array | undefined): JSValueHandle {
    this.#lastAnswer?.dispose();
    this.#lastAnswer = undefined;
    if (answer === undefined) return this.#vm.undefined;
    this.#lastAnswer = typeof answer === "string" ? this.#vm.newString(answer) : this.#vm.newUint8Array(answer);
    return this.#lastAnswer;
  }
}

/** File name of the host's own code. Stack lines with it are not shown. */
const PRELUDE_NAME = "toolyard";

const NEEDS_FUNCTION = /"return not in a function"|"using declaration is not allowed at the top level of a script"/u;

/** An error of the code that `describe` has already formatted. */
class DescribedError extends Error {
  readonly json: string;

  constructor(json: string) {
    super("described");
    this.json = json;
  }
}
