import type { SandboxEngine } from "./engine.ts";
import { resolveSandbox, type SandboxEngineName, type SandboxOptions } from "./options.ts";

/** Functions that create the engines, by name. The code of an engine is loaded when the engine is created. */
const ENGINES: Readonly<Record<SandboxEngineName, (options: SandboxOptions) => Promise<SandboxEngine>>> = {
  embedded: async (options) => (await import("./embedded-engine.ts")).createEmbeddedEngine(options),
  bwrap: async (options) => (await import("./bwrap/bwrap-engine.ts")).createBwrapEngine(options),
  "bwrap-python": async (options) =>
    (await import("./bwrap-python/bwrap-python-engine.ts")).createBwrapPythonEngine(options),
  deno: async (options) => (await import("./deno/deno-engine.ts")).createDenoEngine(options),
};

/**
 * Creates the engine of this name. It starts nothing before its first run, and `unavailable()` reports whether this
 * machine has it. The caller must dispose of it.
 */
export function createEngine(
  name: SandboxEngineName,
  options: SandboxOptions = resolveSandbox(),
): Promise<SandboxEngine> {
  return ENGINES[name](options);
}
