// The server's end of the stage (`stage.ts`): lines of JSON on a socket. The server sends events and receives releases.
import { connect } from "node:net";
import { createInterface } from "node:readline";

/** Connects to the stage. Without a port there is no stage, and no call waits for a release. */
export function openStage(port, instance) {
  const released = new Set();
  const waiting = new Map();
  if (port === undefined) return { report: () => {}, released: () => new Promise(() => {}) };
  const socket = connect(port, "127.0.0.1");
  // Errors after the end of the test are ignored.
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
