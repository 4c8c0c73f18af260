import { expect, test } from "vitest";
import { SandboxWorker } from "./sandbox-worker.ts";

/** Worker that reports its job as done, and exits. */
const LEAVING = `import { workerData } from "node:worker_threads";
workerData.port.postMessage({ type: "done", done: { end: "finished" } });
process.exit(0);`;

test("receives the last messages of a worker before its exit event", async () => {
  const heard = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const worker = new SandboxWorker({
        entry: new URL(`data:text/javascript,${encodeURIComponent(LEAVING)}`),
        data: {},
        memoryBytes: 0,
        program: () => Promise.resolve({ module: EMPTY }),
      });
      const said: string[] = [];
      worker.listen((message) => said.push((message as { type: string }).type));
      const { reason } = await worker.ended;
      return [...said, reason];
    }),
  );
  expect(heard).toEqual(Array.from({ length: 20 }, () => ["done", "crashed"]));
});

/** The smallest valid WebAssembly module. */
const EMPTY = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
