// A custom binding, loaded from a folder and used with a service on plain HTTP that this program starts.
//   npm run build && node --import ./packages/toolyard/dist/runtimes/typescript/register.js examples/http-binding.ts
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { LollmsMCPBindingManager } from "toolyard/bindings";

const TOOLS = [
  {
    name: "weather",
    description: "Weather of a city.",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
];

const service = createServer(async (request, response) => {
  if (request.method === "GET" && request.url === "/tools") return response.end(JSON.stringify(TOOLS));
  if (request.method !== "POST" || request.url !== "/execute/weather")
    return response.writeHead(404).end("Tool not found");
  const { city } = JSON.parse(await text(request)) as { city?: string };
  return city === undefined
    ? response.writeHead(422).end("`city` is missing")
    : response.end(JSON.stringify({ temperature: 22, condition: "sunny" }));
}).listen(0, "127.0.0.1");
await once(service, "listening");

const manager = new LollmsMCPBindingManager(new URL("bindings", import.meta.url));
assert.ok((await manager.getAvailableBindings()).includes("my_custom_mcp"));

const binding = await manager.createBinding("my_custom_mcp", {
  api_endpoint: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
});
assert.ok(binding);
const tools = await binding.discoverTools();
assert.deepEqual(tools, TOOLS);

const sunny = await binding.executeTool("weather", { city: "Paris" });
assert.deepEqual(sunny, { output: { temperature: 22, condition: "sunny" }, status_code: 200 });
const wrong = await binding.executeTool("weather", {});
assert.deepEqual(wrong, { error: "`city` is missing", status_code: 422 });
assert.deepEqual(await binding.executeTool("weaher", {}), { error: "Tool not found", status_code: 404 });

service.closeAllConnections();
service.close();
assert.deepEqual(await binding.discoverTools(), []);

console.log(`${tools.map(({ name }) => name).join(", ")}: ${JSON.stringify(sunny)}, ${JSON.stringify(wrong)}`);
