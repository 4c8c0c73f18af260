/** This file runs inside Deno. */
import vm from "node:vm";
import type {
  EvaluatedCode,
  GuestMachine,
  GuestMethod,
  GuestOwner,
  HeldValue,
} from "../../javascript/guest-machine.ts";
import type { Guest } from "../../javascript/guest/prelude.ts";
import type { HostOperation } from "../../javascript/guest/host.ts";
import { preludeSource } from "../../javascript/guest/prelude.ts";
import { HostRefusal } from "../../javascript/refusal.ts";
import type { SplitSource } from "../split-source.ts";
import { locateSyntaxError } from "./syntax-place.ts";
import { surroundings, type Inner } from "./surroundings.ts";

const MAX_REJECTIONS = 100;

/** A promise of the sandboxed code. Nothing has to be released: one garbage collector serves both sides. */
class HeldPromise implements HeldValue {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }

  dispose(): void {}
}

/**
 * A separate realm in Deno's V8 that contains the language and none of Deno's functions. The code is evaluated as text,
 * not as a module: it has no static imports, and no loader serves dynamic ones.
 */
export class DenoMachine implements GuestMachine {
  owner: GuestOwner | undefined;
  readonly #context = vm.createContext(Object.create(null) as object);
  readonly #guest: Guest;
  readonly #inner: Inner;
  #rejections: unknown[] = [];
  /** Running search for a syntax error. It is stored here, because it is not a promise of the code. */
  #reading: Promise<string | undefined> | undefined;

  constructor() {
    const make = this.#run(preludeSource(), "toolyard") as (host: unknown) => Guest;
    this.#inner = surroundings((source) => this.#run(source, "toolyard"));
    this.#guest = make((operation: unknown, first: unknown, second: unknown) => this.#answer(operation, first, second));
    (globalThis as unknown as EventTarget).addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      if (this.#rejections.length < MAX_REJECTIONS)
        this.#rejections.push((event as Event & { readonly reason: unknown }).reason);
    });
  }

  evaluate(source: SplitSource): EvaluatedCode {
    const { code, name, wrapped } = source;
    if (awaits(code))
      return { promise: new HeldPromise(this.#settled(() => this.#run(withValue(source), name))), isWrapped: true };
    const problem = problemOf(code, name);
    if (problem === undefined)
      return { promise: new HeldPromise(this.#settled(() => ({ value: this.#run(code, name) }))), isWrapped: false };
    // The code is wrapped in a function if it contains `return`, which is allowed only in functions.
    if (isBody(code))
      return { promise: new HeldPromise(this.#settled(() => this.#run(wrapped, name))), isWrapped: true };
    return { promise: new HeldPromise(this.#locate(code, name, problem)), isWrapped: false };
  }

  call(method: GuestMethod, ...given: readonly (string | boolean | HeldValue)[]): string | undefined {
    const values = given.map((value) => (value instanceof HeldPromise ? value.value : value));
    const result: unknown = (this.#guest[method] as (...values: readonly unknown[]) => unknown)(...values);
    return typeof result === "string" ? result : undefined;
  }

  runJobs(): void {}

  /** Calls `then` after all promise jobs, and after V8 has reported rejected promises. */
  whenQuiet(then: () => void): void {
    if (this.#reading === undefined) return void setImmediate(then);
    void this.#reading.finally(() => setImmediate(then));
  }

  describe(error: unknown): string | undefined {
    return this.#guest.describe(error);
  }

  firstRejection(): string | undefined {
    return this.#rejections.length === 0 ? undefined : this.describe(this.#rejections[0]);
  }

  forgetRejections(): void {
    this.#rejections = [];
  }

  #run(source: string, filename: string): unknown {
    return new vm.Script(source, { filename }).runInContext(this.#context, { displayErrors: false });
  }

  /** Runs code. A synchronous exception becomes a rejection. */
  async #settled(run: () => unknown): Promise<unknown> {
    return run();
  }

  async #locate(code: string, name: string, message: string): Promise<never> {
    this.#reading = locateSyntaxError(code);
    const place = await this.#reading;
    throw this.#inner.syntaxError(message, place === undefined ? "" : `    at ${name}:${place}`);
  }

  #answer(operation: unknown, first: unknown, second: unknown): unknown {
    try {
      if (typeof operation !== "string" || typeof first !== "string")
        throw new HostRefusal("This is not a valid request to the host.");
      const payload = typeof second === "string" ? second : new Uint8Array(second as ArrayLike<number>);
      const answer = this.owner?.answer(operation as HostOperation, first, payload);
      if (answer === undefined) return undefined;
      return typeof answer === "string" ? `=${answer}` : this.#inner.bytes(answer);
    } catch (error) {
      return `!${error instanceof HostRefusal ? error.message : "The host could not do that."}`;
    }
  }
}

const ILLEGAL_RETURN = "Illegal return statement";

/** Returns why the text is no valid script; undefined if it is. Parses it without running it. */
function problemOf(text: string, filename: string): string | undefined {
  try {
    return void new vm.Script(text, { filename });
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns whether the code is valid as the body of an asynchronous function. */
function isBody(code: string): boolean {
  return problemOf(`(async()=>{${code}\n})`, "") === undefined;
}

/**
 * Returns whether the code contains `await` outside of functions. In a script, `await (x)` would be a function call;
 * inside a static block it is a syntax error.
 */
function awaits(code: string): boolean {
  return /\bawait\b/u.test(code) && problemOf(`class C{static{${code}\n}}`, "") !== undefined && isBody(code);
}

/** Returns the code as a function that returns its last expression, like the value of a script. */
function withValue({ code, wrapped, wrapperChars, starts, end }: SplitSource): string {
  const prefix = wrapped.slice(0, wrapperChars);
  const suffix = wrapped.slice(wrapperChars + code.length);
  if (!returns(code)) {
    // The starts are tried in order. The first one that parses gives the longest expression, which is how JavaScript
    // reads it.
    for (const start of starts) {
      const text = `${code.slice(0, start)}return(${code.slice(start, end)})${code.slice(end)}`;
      const isWhole =
        problemOf(`(async()=>{${code.slice(0, start)}\n})`, "") === undefined &&
        problemOf(`(async()=>(${code.slice(start, end)}))`, "") === undefined;
      if (isWhole && problemOf(`${prefix}${text}${suffix}`, "") === undefined) return `${prefix}${text}${suffix}`;
    }
  }
  return wrapped;
}

/**
 * Returns whether the code contains `return` outside of functions. It is the only construct that a function allows and
 * a module does not, so parsing both ways detects it.
 */
function returns(code: string): boolean {
  try {
    void new (vm as unknown as { readonly SourceTextModule: new (text: string) => unknown }).SourceTextModule(code);
    return false;
  } catch (error) {
    return (error as Error).message === ILLEGAL_RETURN;
  }
}
