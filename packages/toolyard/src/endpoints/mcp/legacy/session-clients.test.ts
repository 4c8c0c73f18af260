import { alwaysAdmitting } from "../../../core/ports/authenticator.ts";
import { LOCAL_PRINCIPAL } from "../../../core/calls/call.ts";
import { resolveJsonLimits } from "../../../http/options.ts";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createGate, HubStandIn } from "../../../../../../test/fixtures/hub-stand-in.ts";
import {
  createTestDeps,
  createTestModern,
  startTestEndpoint,
  type TestEndpoint,
} from "../../../../../../test/fixtures/mcp-endpoint.ts";
import { StdioEndpoint } from "../stdio-endpoint.ts";
import { createProtocolSink } from "../../../process/stdout-guard.ts";

/** Endpoint on stdio, whose client starts a real child process. The child connects its pipes to this process. */
interface PipeEndpoint {
  readonly hub: HubStandIn;
  readonly command: { readonly command: string; readonly args: string[] };
  close(): Promise<void>;
}

const RELAY =
  `const socket = require("node:net").connect(Number(process.argv[1])); process.stdin.pipe(socket); ` +
  `socket.pipe(process.stdout); socket.on("close", () => process.exit());`;

async function startPipeEndpoint(): Promise<PipeEndpoint> {
  const hub = new HubStandIn();
  const deps = createTestDeps(hub);
  const modern = createTestModern(hub);
  const open: StdioEndpoint[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.setNoDelay(true);
    const endpoint = new StdioEndpoint({
      authenticator: alwaysAdmitting(LOCAL_PRINCIPAL),
      jsonLimits: resolveJsonLimits(),
      ...deps,
      input: socket,
      output: createProtocolSink(socket),
      modern,
    });
    open.push(endpoint);
    endpoint.start();
    void endpoint.done.then(() => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    await Promise.all(open.map((endpoint) => endpoint.close(0)));
    modern.close();
    deps.board.close();
    server.close();
  };
  return { hub, command: { command: process.execPath, args: ["-e", RELAY, String(port)] }, close };
}

let http: TestEndpoint;
let pipe: PipeEndpoint;
const clients: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  http = await startTestEndpoint();
  pipe = await startPipeEndpoint();
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all([http.close(), pipe.close()]);
});

const CAPABILITIES = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

const TRANSPORTS: Record<string, () => { transport: Transport; hub: HubStandIn }> = {
  "Streamable HTTP": () => ({
    transport: new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`)) as Transport,
    hub: http.hub,
  }),
  "HTTP+SSE": () => ({ transport: new SSEClientTransport(new URL(`${http.url}/sse`)) as Transport, hub: http.hub }),
  stdio: () => ({ transport: new StdioClientTransport(pipe.command), hub: pipe.hub }),
};

describe.each(Object.keys(TRANSPORTS))("the v1 client over %s", (name) => {
  async function connect(): Promise<{ client: Client; hub: HubStandIn }> {
    const { transport, hub } = TRANSPORTS[name]!();
    const client = new Client({ name: "v1", version: "1" }, { capabilities: CAPABILITIES });
    clients.push(client);
    await client.connect(transport);
    return { client, hub };
  }

  test("lists and calls tools, reads resources, gets prompts and completes arguments", async () => {
    const { client, hub } = await connect();
    expect(client.getServerVersion()).toEqual({ name: "stand-in", version: "1.2.3" });
    expect(client.getInstructions()).toBe("Use echo.");
    expect((await client.listTools()).tools.map(({ name: tool }) => tool)).toEqual(
      hub.lists.tools.map((tool) => tool["name"]),
    );
    expect(await client.callTool({ name: "echo", arguments: { text: "hi" } })).toMatchObject({
      content: [{ type: "text", text: "hi" }],
    });
    expect((await client.listResources()).resources).toHaveLength(1);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect((await client.readResource({ uri: "test://greeting" })).contents).toHaveLength(1);
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect((await client.getPrompt({ name: "hello", arguments: { who: "Ann" } })).messages).toHaveLength(1);
    const completion = await client.complete({
      ref: { type: "ref/prompt", name: "hello" },
      argument: { name: "who", value: "a" },
    });
    expect(completion.completion.values).toEqual(["alice", "bob"]);
    await client.ping();
  });

  test("receives errors for unknown tools and for tools that fail", async () => {
    const { client } = await connect();
    await expect(client.callTool({ name: "ecko" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("Did you mean echo?"),
    });
    expect(await client.callTool({ name: "fail" })).toMatchObject({ isError: true });
  });

  test("receives progress and log messages", async () => {
    const { client } = await connect();
    const logged: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.level));
    const steps: number[] = [];
    await client.setLoggingLevel("warning");
    await client.callTool({ name: "log" });
    await client.callTool({ name: "progress", arguments: { steps: 5 } }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    // On a shared pipe, this client loses progress that it reads in one chunk with the reply, because it forgets the
    // call first. That happens on a busy machine.
    expect(steps).toEqual([1, 2, 3, 4, 5].slice(0, name === "Streamable HTTP" ? 5 : steps.length));
    expect(logged).toEqual(["warning", "error"]);
  });

  test("receives server requests and answers them", async () => {
    const { client } = await connect();
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: "accept",
      content: { name: params.message },
    }));
    const { content } = await client.callTool({ name: "ask" });
    expect(content).toEqual([{ type: "text", text: '{"action":"accept","content":{"name":"Your name?"}}' }]);
  });

  test("cancels a call", async () => {
    const { client, hub } = await connect();
    const aborted = createGate();
    const controller = new AbortController();
    hub.started.on((call) => {
      call.signal.addEventListener("abort", aborted.open);
      controller.abort("enough");
    });
    await expect(client.callTool({ name: "slow" }, undefined, { signal: controller.signal })).rejects.toThrow("enough");
    await aborted.opened;
    expect(await client.callTool({ name: "echo", arguments: { text: "still here" } })).toMatchObject({
      content: [{ text: "still here" }],
    });
  });

  test("receives list changes", async () => {
    const { client, hub } = await connect();
    const tools = createGate();
    const resource = createGate();
    client.setNotificationHandler(ToolListChangedNotificationSchema, tools.open);
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, resource.open);
    await client.subscribeResource({ uri: "test://greeting" });
    hub.lists.tools = hub.lists.tools.slice(1);
    hub.announce("tools");
    hub.events.resourceUpdated.emit({ uri: "test://greeting", params: { uri: "test://greeting" } });
    await Promise.all([tools.opened, resource.opened]);
    await client.unsubscribeResource({ uri: "test://greeting" });
    expect(hub.subscribed.get("test://greeting")).toBe(0);
  });
});

describe("the v1 client and its streams", () => {
  test("a call completes although its connection breaks", async () => {
    const cut = createGate();
    http.hub.handlers["stepped"] = async (call) => {
      call.notify({ method: "notifications/progress", params: { progress: 1 } });
      await cut.opened;
      return { ok: true, result: { content: [{ type: "text", text: "there" }] } };
    };
    const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
    // Interrupts a stream of events, as a network failure does.
    const cutting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method !== "POST" || !response.headers.get("content-type")?.includes("event-stream")) return response;
      const reader = response.body!.getReader();
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void streams.push(controller),
        pull: async (controller) => {
          const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
          if (done || !value) return;
          controller.enqueue(value);
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    };
    const client = new Client({ name: "v1", version: "1" });
    clients.push(client);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), { fetch: cutting }) as Transport,
    );
    const running = client.callTool({ name: "stepped" }, undefined, {
      onprogress: () => {
        streams[0]?.error(new Error("cut"));
        cut.open();
      },
    });
    expect(await running).toMatchObject({ content: [{ text: "there" }] });
  });

  test.each([true, false])(
    "answers a cancelled call that the client still awaits, with progress before the cancellation: %s",
    async (hasProgress) => {
      const answered: number[] = [];
      const listening: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method === "GET") answered.push(response.status);
        return response;
      };
      const client = new Client({ name: "v1", version: "1" });
      clients.push(client);
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`), { fetch: listening }) as Transport,
      );
      // Id 0 was `initialize`, the first request of this client.
      const cancel = (): Promise<void> =>
        client.notification({ method: "notifications/cancelled", params: { requestId: 1 } });
      let cancelling: Promise<void> | undefined;
      http.hub.handlers["stepped"] = async (call) => {
        if (hasProgress) call.notify({ method: "notifications/progress", params: { progress: 1 } });
        else cancelling = cancel();
        await once(call.signal, "abort");
        return { ok: true, result: { content: [] } };
      };
      const onprogress = (): void => void (cancelling = cancel());
      await expect(client.callTool({ name: "stepped" }, undefined, { onprogress })).rejects.toMatchObject({
        code: 0,
        message: expect.stringContaining("Request cancelled"),
      });
      await cancelling;
      // This client reconnects to each stream that ended with an error.
      if (hasProgress) await vi.waitFor(() => expect(answered).toEqual([200, 204]), { timeout: 10_000 });
    },
  );

  test("terminates the session", async () => {
    const client = new Client({ name: "v1", version: "1" });
    clients.push(client);
    const transport = new StreamableHTTPClientTransport(new URL(`${http.url}/mcp`));
    await client.connect(transport as Transport);
    expect(http.legacy.size).toBe(1);
    await transport.terminateSession();
    expect(http.legacy.size).toBe(0);
  });
});

describe.each(["legacy", "auto"] as const)("the v2 client in mode %s", (mode) => {
  test.each(["http", "stdio"])("lists and calls tools over %s", async (kind) => {
    const client = new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
    clients.push(client);
    await client.connect(kind === "http" ? new HttpV2(new URL(`${http.url}/mcp`)) : new StdioV2(pipe.command));
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    expect(await client.callTool({ name: "echo", arguments: { text: "v2" } })).toMatchObject({
      content: [{ type: "text", text: "v2" }],
    });
    expect((await client.readResource({ uri: "test://greeting" })).contents).toHaveLength(1);
  });
});
