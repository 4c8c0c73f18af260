import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { messageOf, OptionError } from "../../core/errors.ts";
import { patchModule } from "./patch-module.ts";
import { readLibrary } from "./standard-library.ts";

/** An interpreter as a worker receives it. */
export interface CompiledPython {
  /** A `WebAssembly.Module`. */
  readonly module: object;
  /** Standard library for `mountLibrary`. Absent in builds that have it in their code. */
  readonly library?: SharedArrayBuffer;
}

/** Returns the path of the interpreter next to this program; it exists only in a checkout. */
function defaultPythonPath(): string {
  return createRequire(import.meta.url).resolve("@toolyard/python-wasi/python.wasm");
}

/**
 * Compiles the interpreter, a CPython built for WASI preview1, so that none of its instances can use more than
 * `memoryBytes` of linear memory. `resourceLimits` of a worker does not cover that memory, but a maximum in the module
 * does.
 *
 * @param wasmPath Path of a build of CPython for WASI. @default the build next to this program
 * @throws OptionError if the file cannot be read, or is no such module.
 */
export async function compilePython(memoryBytes: number, wasmPath?: string): Promise<CompiledPython> {
  const bytes = await readModule(wasmPath);
  try {
    const module = await WebAssembly.compile(patchModule(bytes, memoryBytes));
    const library = readLibrary(bytes);
    return { module, ...(library === undefined ? {} : { library }) };
  } catch (error) {
    if (error instanceof OptionError) throw error;
    throw new OptionError(
      `The Python interpreter cannot be compiled: ${messageOf(error)}. Name a CPython built for WASI preview1.`,
      { cause: error },
    );
  }
}

async function readModule(wasmPath: string | undefined): Promise<Uint8Array> {
  try {
    return await readFile(wasmPath ?? defaultPythonPath());
  } catch (error) {
    throw new OptionError(
      wasmPath === undefined
        ? "Python in the sandbox needs the extra `python`. Install it: `toolyard extras add python`."
        : "The Python interpreter that the configuration names cannot be read. Name a CPython built for WASI preview1.",
      { cause: error },
    );
  }
}
