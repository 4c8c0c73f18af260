// A long call: progress while it runs, cancellation, and a time limit.
//   npm run build && node --import ./packages/toolyard/dist/runtimes/typescript/register.js examples/progress.ts
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createHub } from "toolyard";

const modules = fileURLToPath(new URL("yard/modules", import.meta.url));
const hub = await createHub({ settings: { modules: { paths: [modules] }, logging: { level: "error" } } });
try {
  const heard: unknown[] = [];
  const waited = await hub.call(
    "clock.wait",
    { seconds: 1 },
    { onNotice: ({ params }) => void heard.push(params["message"]) },
  );
  assert.ok(waited.ok);
  assert.deepEqual(heard, ["1 of 1 seconds"]);

  // Aborting the signal ends the work itself, not only the wait for it.
  const stop = new AbortController();
  const cancelled = hub.call("clock.wait", { seconds: 600 }, { signal: stop.signal });
  stop.abort();
  assert.equal(((await cancelled) as { kind?: string }).kind, "cancelled");

  const late = await hub.call("clock.wait", { seconds: 600 }, { timeoutMs: 100 });
  assert.ok(!late.ok);
  assert.equal(late.kind, "timeout");
  console.log(`heard "${String(heard[0])}", then one call was cancelled and one was too late`);
} finally {
  await hub.close();
}
