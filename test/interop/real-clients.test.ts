// The SDK's clients with a whole hub: list, search, call, read, and notifications of a changed list and an updated
// resource.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as PipeV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { EndpointName, ServedHub } from "../fixtures/served-hub.ts";
import { serveRich } from "./pass-through.ts";
import { INSTRUCTIONS } from "../fixtures/upstreams/rich-offers.mjs";

const WATCHED = "rich://watched";

/** Operations of a client library. */
interface RealClient {
  readonly instructions: string | undefined;
  list(): Promise<readonly string[]>;
  call(name: string, args?: JsonObject): Promise<JsonObject>;
  read(uri: string): Promise<JsonObject>;
  prompt(name: string, args: Record<string, string>): Promise<JsonObject>;
  /** Subscribes to changed lists, and to this resource. */
  listen(uri: string): Promise<void>;
  onToolsChanged(heard: () => void): void;
  onResourceUpdated(heard: (uri: string) => void): void;
  close(): Promise<void>;
}

async function connectV1(hub: ServedHub): Promise<RealClient> {
  const client = new ClientV1({ name: "v1", version: "1" });
  const transport =
    hub.url === undefined ? new PipeV1({ ...hub.command!, stderr: "ignore" }) : new HttpV1(new URL(hub.url));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}) => client.callTool({ name, arguments: args }),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    listen: async (uri) => void (await client.subscribeResource({ uri })),
    onToolsChanged: (heard) => client.setNotificationHandler(ToolListChangedNotificationSchema, heard),
    onResourceUpdated: (heard) =>
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard(params.uri)),
    close: () => client.close(),
  };
}

async function connectV2(hub: ServedHub, mode: VersionNegotiationMode, era: "legacy" | "modern"): Promise<RealClient> {
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(
    hub.url === undefined
      ? new StdioClientTransport({ ...hub.command!, stderr: "ignore" })
      : new StreamableHTTPClientTransport(new URL(hub.url)),
  );
  return {
    instructions: client.getInstructions(),
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as JsonObject,
    read: async (uri) => (await client.readResource({ uri })) as JsonObject,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })) as JsonObject,
    listen: async (uri) =>
      void (era === "legacy"
        ? await client.subscribeResource({ uri })
        : await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] })),
    onToolsChanged: (heard) => client.setNotificationHandler("notifications/tools/list_changed", heard),
    onResourceUpdated: (heard) =>
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard(params.uri)),
    close: () => client.close(),
  };
}

const CLIENTS: Readonly<Record<string, (hub: ServedHub) => Promise<RealClient>>> = {
  "v1 client": connectV1,
  "v2 client in mode legacy": (hub) => connectV2(hub, "legacy", "legacy"),
  "v2 client in mode auto": (hub) => connectV2(hub, "auto", "modern"),
  "v2 client pinned to 2026-07-28": (hub) => connectV2(hub, { pin: "2026-07-28" }, "modern"),
};

describe.each(["HTTP", "stdio"] as const)("on %s", (endpoint: EndpointName) => {
  describe.each(Object.keys(CLIENTS))("%s", (name) => {
    let hub: ServedHub;
    let client: RealClient;
    beforeAll(async () => {
      hub = await serveRich({ upstream: "legacy", transport: "stdio", endpoint });
      client = await CLIENTS[name]!(hub);
    });
    afterAll(async () => {
      await client?.close();
      await hub?.[Symbol.asyncDispose]();
    });
    const title = (what: string): string => `${name} (${endpoint}) ${what}`;

    test(title("is told how to use the hub and lists its tools"), async () => {
      expect(client.instructions).toBe(INSTRUCTIONS);
      expect(await client.list()).toEqual(expect.arrayContaining(["echo", "full", "progress"]));
    });

    test(title("finds a tool by searching"), async () => {
      const { content } = await client.call("tool_search", { query: "full", max_results: 3 });
      expect(JSON.stringify(content)).toContain("Has every member.");
    });

    test(title("calls tools, good ones and one that fails"), async () => {
      expect(await client.call("full", { city: "Oslo" })).toMatchObject({
        structuredContent: { temperature: 21, city: "Oslo" },
      });
      expect(await client.call("fail")).toMatchObject({ isError: true, content: [{ text: "it failed" }] });
      await expect(client.call("nobody")).rejects.toMatchObject({ code: -32602 });
    });

    test(title("reads a resource and gets a prompt"), async () => {
      expect(await client.read("rich://full")).toMatchObject({
        contents: [{ uri: "rich://full", text: "full" }, { mimeType: "image/png" }],
      });
      expect((await client.prompt("full", { who: "Ada" }))["description"]).toBe("For Ada");
    });

    test(title("hears of a changed list and of an updated resource"), async () => {
      const listChanged = new Promise<void>((resolve) => client.onToolsChanged(resolve));
      const updated = new Promise<string>((resolve) => client.onResourceUpdated(resolve));
      await client.listen(WATCHED);
      const { content } = await client.call("grow", { list: "tools" });
      await listChanged;
      expect(await client.list()).toContain((content as JsonObject[])[0]!["text"]);
      await client.call("touch", { uri: WATCHED });
      expect(await updated).toBe(WATCHED);
    });
  });
});
