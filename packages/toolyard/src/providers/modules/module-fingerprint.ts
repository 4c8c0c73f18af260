import { extname } from "node:path";
import { Fingerprint, type FingerprintState } from "../../runtimes/typescript/fingerprint.ts";
import type { FoundModule } from "./discover.ts";
import { PythonFingerprint } from "./python-fingerprint.ts";
import { type LoadResult, type ModuleStartOptions, startModule } from "./running-module.ts";

/** The files of a module in any language at one time, and how the module is run in that state. */
export interface ModuleFingerprint {
  readonly files: readonly string[];
  /** Checks the files on disk now. */
  check(): FingerprintState;
  /** Starts the module. Never rejects. */
  start(found: FoundModule, options: ModuleStartOptions): Promise<LoadResult>;
}

export function fingerprintOf(file: string): ModuleFingerprint {
  return extname(file) === ".py" ? pythonFingerprint(file) : typescriptFingerprint(file);
}

function typescriptFingerprint(file: string): ModuleFingerprint {
  const fingerprint = new Fingerprint(file);
  return {
    get files() {
      return fingerprint.graph.files;
    },
    check: () => fingerprint.check(),
    start: (found, options) => startModule(found, fingerprint.graph, options),
  };
}

function pythonFingerprint(file: string): ModuleFingerprint {
  const fingerprint = new PythonFingerprint(file);
  return {
    get files() {
      return fingerprint.files;
    },
    check: () => fingerprint.check(),
    start: async (found, options) => {
      // The code is loaded on demand, because most hubs have no such modules.
      const { startPythonModule } = await import("./python-module.ts");
      return startPythonModule(found, fingerprint, options);
    },
  };
}
