// Document M with custom services: ferries, tides and harbours, each an MCP server on its own port.
import { afterEach, describe, expect, test } from "vitest";
import { LLMWithMCPTools } from "../../../packages/toolyard/src/agent.ts";
import { MCPClient } from "../../../packages/toolyard/src/client.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { MCPManager, type Registry } from "../../../packages/toolyard/src/manager.ts";
import { closedPort, startTools, type ServedTools } from "../tool-server.ts";
import type { RunningServer } from "../../fixtures/http-servers.ts";

const HOST = "127.0.0.1";
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one.close();
});

async function service(tools: ServedTools, before?: () => void): Promise<RunningServer> {
  const server = await startTools(tools, before ? { before } : {});
  closing.push(server);
  return server;
}

function manage(registry: Registry, options: object = {}): MCPManager {
  const manager = new MCPManager(registry, { logger: SILENT_LOGGER, attempts: 1, timeout: 60, ...options });
  closing.push(manager);
  return manager;
}

const HARBOURS: Readonly<Record<string, number>> = { Brest: 48.4, Dover: 51.1 };

/** Starts a service that calls another one, as weather calls geocoding. */
async function tides(): Promise<{ readonly registry: Registry; readonly asked: unknown[] }> {
  const asked: unknown[] = [];
  const harbours = await service({
    find_harbour: (args) => {
      asked.push(args);
      return { latitude: HARBOURS[String(args["name"])] };
    },
  });
  const inner = manage({ find_harbour: { host: HOST, port: harbours.port, name: "Harbours" } });
  const tide = await service({
    get_tide: async ({ harbour }) => {
      const found = (await inner.callTool("find_harbour", { name: harbour })) as { latitude?: number };
      return { harbour, latitude: found.latitude, metres: 4 };
    },
  });
  return { registry: { get_tide: { host: HOST, port: tide.port, name: "Tides" } }, asked };
}

/** A model that returns these replies in order, and records its requests. */
function scripted(replies: readonly object[]): { readonly client: object; readonly asked: { messages: unknown[] }[] } {
  const asked: { messages: unknown[] }[] = [];
  const complete = async (body: { messages: unknown[] }) => {
    asked.push(structuredClone(body));
    return { choices: [{ message: replies[Math.min(asked.length, replies.length) - 1] }] };
  };
  return { client: { chat: { complete } }, asked };
}

const wants = (name: string, args: object): object => ({
  content: "",
  toolCalls: [{ id: "tide00001", function: { name, arguments: JSON.stringify(args) } }],
});

describe("one manager in front of services", () => {
  test("M1, M2, M3: a name and its arguments return the service's result unchanged", async () => {
    const ferries = await service({ next_ferry: ({ to }) => ({ to, at: "09:40", seats: [3, 0] }) });
    const { registry } = await tides();
    const manager = manage({ ...registry, next_ferry: { host: HOST, port: ferries.port } });
    expect(await manager.call_tool("next_ferry", { to: "Calais" })).toEqual({
      to: "Calais",
      at: "09:40",
      seats: [3, 0],
    });
    expect(await manager.execute_tool("get_tide", { harbour: "Dover" })).toMatchObject({ latitude: 51.1 });
    expect(manager.resolve("next_ferry")).toMatchObject({ host: HOST, port: ferries.port, tool: "next_ferry" });
  });

  test("M4, M5: a timeout and an absent service give the same object", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => void (release = resolve));
    const slow = await service({ next_ferry: () => held });
    const port = await closedPort();
    const manager = manage({
      next_ferry: { host: HOST, port: slow.port, name: "Ferries" },
      get_tide: { host: HOST, port, name: "Tides" },
    });
    const late = manager.callTool("next_ferry", {}, { timeout: 3 });
    expect(await late).toEqual({ error: `Ferries MCP unavailable on port ${slow.port}` });
    expect(await manager.callTool("get_tide", {})).toEqual({ error: `Tides MCP unavailable on port ${port}` });
    release();
  });

  test("M6, M13: an unknown name is reported without any request", async () => {
    let requests = 0;
    const ferries = await service({ next_ferry: () => ({}) }, () => void (requests += 1));
    const manager = manage({ next_ferry: { host: HOST, port: ferries.port } });
    expect(await manager.callTool("last_ferry", {})).toEqual({ error: expect.stringContaining("last_ferry") });
    expect(manager.resolve("last_ferry")).toBeUndefined();
    expect(manager.resolve("next_ferry")).toMatchObject({ port: ferries.port });
    expect(requests).toBe(0);
  });

  test("M8: a slow service does not delay others", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => void (release = resolve));
    const slow = await service({ load_cargo: () => held.then(() => ({ loaded: true })) });
    const quick = await service({ next_ferry: () => ({ at: "10:10" }) });
    const manager = manage({
      load_cargo: { host: HOST, port: slow.port },
      next_ferry: { host: HOST, port: quick.port },
    });
    const loading = manager.callTool("load_cargo", {});
    expect(await manager.callTool("next_ferry", {})).toEqual({ at: "10:10" });
    release();
    expect(await loading).toEqual({ loaded: true });
  });

  test("M15: the manager is a thin layer over a client's call and returns the same result", async () => {
    const ferries = await service({ next_ferry: ({ to }) => ({ to }) });
    const manager = manage({ next_ferry: { host: HOST, port: ferries.port } });
    const client = new MCPClient({ host: HOST, port: ferries.port } as never);
    await client.start();
    const direct = await client.callTool("next_ferry", { to: "Ostend" });
    await client.stop();
    expect(await manager.callTool("next_ferry", { to: "Ostend" })).toEqual(direct);
  });
});

describe("a model in front of the manager", () => {
  test("M10: decides, receives the combined results of two services, and answers", async () => {
    const { registry, asked: harbours } = await tides();
    const { client, asked } = scripted([wants("get_tide", { harbour: "Brest" }), { content: "Four metres at Brest." }]);
    const manager = manage(registry);
    expect(await new LLMWithMCPTools(client, manager).chat("Tide at Brest?")).toBe("Four metres at Brest.");
    expect(harbours).toEqual([{ name: "Brest" }]);
    expect(JSON.stringify(asked[1]!.messages)).toContain("48.4");
    expect(await manager.callTool("tides.get_tide", { harbour: "Dover" })).toMatchObject({ harbour: "Dover" });
  });

  test("M7: receives a failure as the one error object, and continues", async () => {
    const port = await closedPort();
    const { client, asked } = scripted([wants("get_tide", { harbour: "Brest" }), { content: "I cannot say." }]);
    const manager = manage({ get_tide: { host: HOST, port, name: "Tides" } });
    const tools = [{ name: "get_tide", description: "The tide", input_schema: { type: "object" } }];
    const caller = { listTools: async () => tools, callTool: manager.callTool.bind(manager) };
    expect(await new LLMWithMCPTools(client, caller as never).chat("Tide?")).toBe("I cannot say.");
    expect(JSON.stringify(asked[1]!.messages)).toContain(`Tides MCP unavailable on port ${port}`);
  });

  test("M12: calls a service that one `register` line added, without changes to the caller", async () => {
    const { registry } = await tides();
    const manager = manage(registry);
    const { client, asked } = scripted([
      { content: "No jokes." },
      wants("get_joke", {}),
      { content: "Why did the crab blush?" },
    ]);
    const orchestrator = new LLMWithMCPTools(client, manager);
    await orchestrator.chat("A joke?");
    const jokes = await service({ get_joke: () => ({ joke: "The sea weed." }) });
    manager.register("get_joke", { host: HOST, port: jokes.port });
    expect(await orchestrator.chat("And now?")).toBe("Why did the crab blush?");
    expect(JSON.stringify(asked[1])).toContain('"get_joke"');
    expect(JSON.stringify(asked[2]!.messages)).toContain("The sea weed.");
  });
});
