// The server's end of the stage (`stage.ts`): lines of JSON on a socket, events there and releases back.
import { connect } from "node:net";
import { createInterface } from "node:readline";

/** Without a port no stage listens, and nothing waits for a release. */
export function openStage(port, instance) {
  const released = new Set();
  const waiting = new Map();
  if (port === undefined) return { report: () => {}, released: () => new Promise(() => {}) };
  const socket = connect(port, "127.0.0.1");
  // The test is over.
  socket.on("error", () => {});
  socket.unref();
  createInterface({ input: socket }).on("line", (line) => {
    const { release } = JSON.parse(line);
    released.add(release);
    for (const resolve of waiting.get(release) ?? []) resolve();
  });
  return {
    report: (event, facts) => void socket.write(`${JSON.stringify({ instance, event, ...facts })}\n`),
    released: (tag) =>
      new Promise((resolve) => {
        if (released.has(tag)) resolve();
        else waiting.set(tag, [...(waiting.get(tag) ?? []), resolve]);
      }),
  };
}
