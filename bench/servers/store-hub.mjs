// A hub with a shared store in its own process. The arguments are its port, the address of the store, and the calls
// per minute of each of its 80 tokens (0 for no limit). The parent asks for the processor time.
import { createHub } from "../../packages/toolyard/build/index.js";

const [port, url, perMinute] = process.argv.slice(2);
const tokens = Array.from({ length: 80 }, (_, at) => [
  `bench-${at}`,
  { token: `token-of-the-bench-${at}`, rate_per_minute: Number(perMinute) },
]);
const hub = await createHub({
  settings: {
    logging: { level: "error" },
    server: {
      port: Number(port),
      tokens: Object.fromEntries(tokens),
    },
    limits: { rate_per_minute: 0, in_flight: 0 },
    store: { url, advertise: `http://127.0.0.1:${port}` },
  },
  registerTools: (own) => {
    own.registerTool("echo", ({ text }) => text, { type: "object" }, "Echoes a text");
    own.registerTool(
      "steps",
      async (_, context) => {
        for (let step = 1; step <= 3; step += 1) context.progress(step, 3, "step");
        return "done";
      },
      { type: "object" },
      "Reports progress",
    );
  },
});
await hub.serve();
process.on("message", () => {
  globalThis.gc?.();
  process.send({ cpu: process.cpuUsage(), rss: process.memoryUsage().heapUsed });
});
process.on("disconnect", () => void hub.close().finally(() => process.exit(0)));
process.send({ ready: true });
