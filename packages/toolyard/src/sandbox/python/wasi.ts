import { ERRNO, GuestError, GuestExit, GuestParked } from "./errno.ts";
import type { GuestCall, GuestSystem } from "./guest-system.ts";
import { descriptorCalls } from "./wasi-descriptors.ts";
import { pathCalls } from "./wasi-paths.ts";
import { systemCalls } from "./wasi-system.ts";

/**
 * Returns WASI preview1 for one guest, entirely in memory: files, clocks, random bytes and output; no environment,
 * sockets or host. A missing call fails with ENOSYS, an unexpected error with EIO.
 */
export function wasiImports(system: GuestSystem, module: object): Record<string, Record<string, unknown>> {
  const calls: Record<string, GuestCall> = { ...descriptorCalls(system), ...pathCalls(system), ...systemCalls(system) };
  const imports: Record<string, unknown> = {};
  for (const { name } of WebAssembly.Module.imports(module)) {
    const call = Object.hasOwn(calls, name) ? calls[name] : undefined;
    imports[name] = call === undefined ? () => ERRNO.nosys : guarded(call);
  }
  return { wasi_snapshot_preview1: imports };
}

function guarded(call: GuestCall): (...args: never[]) => number {
  return (...args) => {
    try {
      call(...args);
      return ERRNO.success;
    } catch (error) {
      if (error instanceof GuestError) return error.errno;
      if (error instanceof GuestExit || error instanceof GuestParked) throw error;
      return ERRNO.io;
    }
  };
}
