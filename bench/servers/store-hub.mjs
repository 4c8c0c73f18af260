// A hub with a shared store in its own process. The arguments are its port, the address of the store, and the limit of
// concurrent calls of a client (0: none). The parent asks for the processor time.
import { createHub } from "../../packages/toolyard/build/index.js";

const [port, url, inFlight] = process.argv.slice(2);
const hub = await createHub({
  settings: {
    logging: { level: "error" },
    server: {
      port: Number(port),
      tokens: { bench: { token: "bench" } },
    },
    limits: { rate_per_minute: 0, in_flight: Number(inFlight) },
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
