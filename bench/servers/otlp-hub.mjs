// A hub in its own process for the cost of tracing. The parent sets `OTEL_*`, and asks for the processor time.
import { createHub } from "../../packages/toolyard/build/index.js";

const hub = await createHub({
  settings: { logging: { level: "error" }, server: { port: 0 } },
  registerTools: (own) => own.registerTool("echo", ({ text }) => text, { type: "object" }, "Echoes a text"),
});
const { address } = await hub.serve();
process.on("message", () => process.send({ cpu: process.cpuUsage() }));
process.on("disconnect", () => void hub.close().finally(() => process.exit(0)));
process.send({ url: address.url });
