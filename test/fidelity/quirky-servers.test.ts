// One server whose definitions the protocol does not allow, beside a good one: official clients keep everything.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { serveHub, type ServedHub } from "../fixtures/served-hub.ts";

const SCRIPT = fileURLToPath(new URL("../fixtures/upstreams/quirks.mjs", import.meta.url));

interface Quirks {
  readonly era?: "legacy" | "modern";
  readonly opening?: JsonObject;
  readonly results?: JsonObject;
  readonly tools?: readonly JsonObject[];
  readonly prompts?: readonly JsonObject[];
  readonly resources?: readonly JsonObject[];
  readonly templates?: readonly JsonObject[];
}

function command(quirks: Quirks): string[] {
  return [process.execPath, SCRIPT, JSON.stringify(quirks)];
}

const GOOD: Quirks = {
  tools: [{ name: "fine", inputSchema: { type: "object" } }],
  prompts: [{ name: "fine" }],
  resources: [{ uri: "good://fine", name: "fine" }],
  templates: [{ uriTemplate: "good://{fine}", name: "fine" }],
};

function serveQuirks(quirks: Quirks): Promise<ServedHub> {
  const stdio_servers = { good: { command: command(GOOD) }, quirky: { command: command(quirks) } };
  return serveHub({ mcp: { stdio_servers } }, "HTTP");
}

interface OfficialClient extends AsyncDisposable {
  tools(): Promise<string[]>;
  prompts(): Promise<string[]>;
  resources(): Promise<string[]>;
  templates(): Promise<string[]>;
  call(name: string, args?: JsonObject): Promise<JsonObject>;
}

async function connectV1(url: string): Promise<OfficialClient> {
  const client = new ClientV1({ name: "v1", version: "1" });
  await client.connect(new HttpV1(new URL(url)) as Parameters<typeof client.connect>[0]);
  return officialClient(client);
}

function v2(mode: VersionNegotiationMode): (url: string) => Promise<OfficialClient> {
  return async (url) => {
    const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return officialClient(client);
  };
}

function officialClient(client: ClientV1 | Client): OfficialClient {
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    call: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as JsonObject,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const CLIENTS: Readonly<Record<string, (url: string) => Promise<OfficialClient>>> = {
  "v1 client": connectV1,
  "v2 client in mode legacy": v2("legacy"),
  "v2 client pinned to 2026-07-28": v2({ pin: "2026-07-28" }),
};

const input = (more: JsonObject): JsonObject => ({ inputSchema: { type: "object", ...more } });

/** One faulty tool each; every one of them used to take the whole merged list from official clients. */
const TOOLS: readonly JsonObject[] = [
  { title: null },
  { description: null },
  { annotations: null },
  { annotations: { readOnlyHint: "yes" } },
  { _meta: [] },
  { icons: [{ src: 5 }] },
  { execution: "none" },
  input({ properties: [] }),
  input({ properties: { a: null } }),
  input({ properties: { a: "string" } }),
  input({ required: null }),
  input({ required: {} }),
  input({ required: "a" }),
  { outputSchema: { type: "object", properties: [] } },
  { outputSchema: { type: "object", properties: { a: { type: "text" } } } },
  { outputSchema: { type: "object", properties: { a: { pattern: "[" } } } },
].map((more, index) => ({ name: `tool${index}`, inputSchema: { type: "object" }, ...more }));

const QUIRKY: Quirks = {
  tools: TOOLS,
  prompts: [
    { name: "p1", description: null },
    { name: "p2", arguments: null },
    { name: "p3", arguments: [{ name: "a", required: "no" }] },
  ],
  resources: [
    { uri: "quirky://1" },
    { uri: "quirky://2", name: "two", mimeType: null },
    { uri: "quirky://3", name: "three", size: "3" },
    { uri: "quirky://4", name: "four", annotations: { audience: null } },
  ],
  templates: [{ uriTemplate: "quirky://{a}" }, { uriTemplate: "quirky://{b}/c", name: 5 }],
};

describe.each(["legacy", "modern"] as const)("a faulty server of the %s era", (era) => {
  test.each(Object.keys(CLIENTS))("keeps no entry from the %s", async (name) => {
    await using hub = await serveQuirks({ ...QUIRKY, era });
    await using client = await CLIENTS[name]!(hub.url!);
    const tools = await client.tools();
    expect(tools).toEqual(
      expect.arrayContaining(["good__fine", ...TOOLS.map((tool) => `quirky__${String(tool["name"])}`)]),
    );
    expect(await client.prompts()).toEqual(["good__fine", "quirky__p1", "quirky__p2", "quirky__p3"]);
    expect(await client.resources()).toHaveLength(5);
    expect(await client.templates()).toHaveLength(3);
    expect(await client.call("quirky__seen")).toMatchObject({ structuredContent: { seen: expect.anything() } });
  });
});

test("check and status name the server, the entry and the member", async () => {
  await using hub = await serveQuirks(QUIRKY);
  const { problems } = hub.library!.sources().find(({ source }) => source.id === "quirky")!;
  const subjects = new Set(problems.map(({ subject }) => subject));
  for (const { name } of TOOLS) expect(subjects).toContain(name);
  for (const key of ["p1", "p2", "p3", "quirky://1", "quirky://4", "quirky://{a}"]) expect(subjects).toContain(key);
  expect(problems.every(({ repaired }) => repaired)).toBe(true);
  expect(problems.find(({ subject }) => subject === "tool3")!.message).toContain(
    '`annotations.readOnlyHint` must be true or false, got "yes"',
  );
});

describe("capabilities", () => {
  test.each<[string, unknown, boolean]>([
    ["an empty list for each, as PHP writes it", { tools: [], prompts: [], resources: [], logging: [] }, true],
    ["true", { tools: true, resources: true }, true],
    ["null", { tools: null, prompts: null }, true],
    ["a number", { tools: 1 }, true],
    ["text", { tools: "yes" }, true],
    ["an empty list in place of all", [], true],
    ["null in place of all", null, true],
    ["a switch of null", { tools: { listChanged: null } }, true],
    ["false", { tools: false, prompts: {} }, false],
    ["no tools", { prompts: {} }, false],
  ])("that are %s", async (_what, capabilities, hasTools) => {
    const quirks = { ...GOOD, opening: { capabilities } as JsonObject, prompts: [{ name: "hi" }] };
    await using hub = await serveHub(
      { mcp: { stdio_servers: { quirky: { command: command(quirks) }, good: { command: command(GOOD) } } } },
      "HTTP",
      { needsTools: hasTools },
    );
    for (const connect of Object.values(CLIENTS)) {
      await using client = await connect(hub.url!);
      const tools = await client.tools();
      expect(tools.includes("quirky__fine")).toBe(hasTools);
      expect(tools).toContain("good__fine");
    }
    const { problems } = hub.library!.sources().find(({ source }) => source.id === "quirky")!;
    const isFaulty = JSON.stringify(capabilities) !== '{"prompts":{}}';
    expect(problems.some(({ subject, repaired }) => subject === "capabilities" && repaired)).toBe(isFaulty);
  });

  test.each<[string, JsonObject]>([
    ["serverInfo", { serverInfo: { name: null, version: 1, icons: null, websiteUrl: 5, title: [] } }],
    ["serverInfo that is null", { serverInfo: null }],
    ["instructions", { instructions: null }],
    ["instructions that are a list", { instructions: ["Use it."] }],
    ["experimental", { capabilities: { tools: {}, experimental: { "a/b": null, "c/d": true } } }],
    ["extensions", { capabilities: { tools: {}, extensions: [], completions: "yes" } }],
  ])(
    "and %s of the wrong type let official clients connect to a hub with this server alone",
    async (_what, opening) => {
      await using hub = await serveHub({ mcp: { stdio_servers: { only: { command: command({ opening }) } } } }, "HTTP");
      for (const connect of Object.values(CLIENTS)) {
        await using client = await connect(hub.url!);
        expect(await client.tools()).toContain("only__seen");
      }
      const { problems } = hub.library!.sources().find(({ source }) => source.id === "only")!;
      expect(problems).toMatchObject([{ subject: Object.keys(opening)[0], repaired: true }]);
    },
  );
});
