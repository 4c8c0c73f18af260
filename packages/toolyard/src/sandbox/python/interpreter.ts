import type { GuestSystem } from "./guest-system.ts";
import type { RestoredInterpreter } from "./snapshot.ts";
import { wasiImports } from "./wasi.ts";

/** Exports of a build that can be resumed: a function of CPython's C API, and the stack pointer of the linker. */
const RESUME = "PyRun_SimpleStringFlags";
const STACK = "__stack_pointer";
const PAGE_BYTES = 65_536;
const STACK_ALIGNMENT = 16;

/** Returns whether a booted interpreter of this build can be resumed. */
export function canResume(module: object): boolean {
  const names = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  return names.has(RESUME) && names.has(STACK);
}

/** One instance of CPython. For modules that cannot be resumed, only `start` and `bytes` work. */
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

  /** Boots the interpreter. Returns when it exits. */
  start(): void {
    this.#start();
  }

  /**
   * Restores the memory of a booted interpreter. The call stack of the boot is lost, but its space on the interpreter's
   * own stack stays reserved. From the interpreter's view, the boot is a call that never returns, and all later code
   * runs inside it.
   */
  restore({ bytes, start, stack }: RestoredInterpreter): void {
    const missing = start + bytes.length - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(missing / PAGE_BYTES);
    this.bytes.set(bytes, start);
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
