import type { GuestSystem } from "./guest-system.ts";
import { RESUME, STACK } from "./resume-exports.ts";
import type { RestoredInterpreter } from "./snapshot.ts";
import { wasiImports } from "./wasi.ts";

const PAGE_BYTES = 65_536;
const STACK_ALIGNMENT = 16;

/** False for a build in which the way back into a booted interpreter is not known. */
export function canResume(module: object): boolean {
  const names = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  return names.has(RESUME) && names.has(STACK);
}

/** One instance of CPython. All but `start` and `bytes` are for modules that can resume. */
export class Interpreter {
  readonly #memory: WebAssembly.Memory;
  readonly #start: () => void;
  readonly #runString: ((text: number, flags: number) => number) | undefined;
  readonly #stack: WebAssembly.Global | undefined;

  constructor(module: object, system: GuestSystem) {
    const { exports } = new WebAssembly.Instance(module, wasiImports(system, module));
    this.#memory = exports["memory"] as WebAssembly.Memory;
    this.#start = exports["_start"] as () => void;
    this.#runString = exports[RESUME] as ((text: number, flags: number) => number) | undefined;
    this.#stack = exports[STACK] as WebAssembly.Global | undefined;
    system.memory.attach(this.#memory);
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#memory.buffer);
  }

  /** End of the guest's stack, which grows downwards. */
  get stack(): number {
    return this.#stack!.value;
  }

  /** From the beginning. Returns when the interpreter ends. */
  start(): void {
    this.#start();
  }

  /**
   * Puts a booted interpreter's memory in place. Its frames in WebAssembly are gone, and the place of those on its own
   * stack stays taken: for the interpreter, it is inside of a call that never returns, and what runs next is run by
   * that call.
   */
  restore({ bytes, stack }: RestoredInterpreter): void {
    const missing = bytes.length - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(missing / PAGE_BYTES);
    this.bytes.set(bytes);
    this.#stack!.value = stack;
  }

  /** Runs source text in a booted interpreter. */
  runString(source: string): void {
    const text = Buffer.from(`${source}\0`);
    const at = (this.stack - text.length) & -STACK_ALIGNMENT;
    this.bytes.set(text, at);
    this.#stack!.value = at;
    this.#runString!(at, 0);
  }
}
