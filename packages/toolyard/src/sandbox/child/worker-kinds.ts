import { readFile } from "node:fs/promises";
import type { ChildSettings, InterpreterName } from "../child-messages.ts";
import { createSnapshotRoom } from "../python/snapshot.ts";

/** Code and settings with which a worker of one language is started. */
export interface WorkerKind {
  readonly entry: URL;
  readonly memoryBytes: number;
  /** Returns the module, which is compiled once, for the first worker. */
  module(): Promise<object>;
  /** Start data in addition to `WorkerSettings`. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type WorkerKinds = Readonly<Record<InterpreterName, WorkerKind>>;

export function workerKinds(settings: ChildSettings): WorkerKinds {
  const { memoryBytes, quickjs, quickjsWasm, sucrase, pythonWasm } = settings;
  return {
    javascript: {
      entry: new URL("../javascript/worker.js", import.meta.url),
      memoryBytes,
      module: once(async () => WebAssembly.compile(await readFile(quickjsWasm))),
      data: { quickjs, sucrase },
    },
    python: {
      entry: new URL("../python/worker.js", import.meta.url),
      memoryBytes,
      module: once(async () => {
        const { compilePython } = await import("../python/module.ts");
        return compilePython(memoryBytes, pythonWasm);
      }),
      data: { snapshots: createSnapshotRoom() },
    },
  };
}

function once(compile: () => Promise<object>): () => Promise<object> {
  let compiled: Promise<object> | undefined;
  return () => (compiled ??= compile());
}
