import { readFile } from "node:fs/promises";
import type { ChildSettings, InterpreterName } from "../child-messages.ts";
import { createSnapshotRoom } from "../python/snapshot.ts";

/** The interpreter that a worker runs. */
export interface WorkerProgram {
  /** A `WebAssembly.Module`. */
  readonly module: object;
  /** Standard library that the workers share, if the interpreter reads it as files. */
  readonly library?: SharedArrayBuffer;
}

/** Code and settings with which a worker of one language is started. */
export interface WorkerKind {
  readonly entry: URL;
  readonly memoryBytes: number;
  /** Returns the compiled program, which is compiled once, for the first worker. */
  program(): Promise<WorkerProgram>;
  /** Start data in addition to `SandboxWorkerSettings`. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type WorkerKinds = Readonly<Record<InterpreterName, WorkerKind>>;

export function workerKinds(settings: ChildSettings): WorkerKinds {
  const { memoryBytes, quickjs, quickjsWasm, sucrase, pythonWasm } = settings;
  return {
    javascript: {
      entry: new URL("../javascript/worker.js", import.meta.url),
      memoryBytes,
      program: once(async () => ({ module: await WebAssembly.compile(await readFile(quickjsWasm)) })),
      data: { quickjs, sucrase },
    },
    python: {
      entry: new URL("../python/worker.js", import.meta.url),
      memoryBytes,
      program: once(async () => {
        const { compilePython } = await import("../python/module.ts");
        return compilePython(memoryBytes, pythonWasm);
      }),
      data: { snapshots: createSnapshotRoom() },
    },
  };
}

function once(compile: () => Promise<WorkerProgram>): () => Promise<WorkerProgram> {
  let compiled: Promise<WorkerProgram> | undefined;
  return () => (compiled ??= compile());
}
