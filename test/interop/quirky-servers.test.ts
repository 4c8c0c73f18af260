// A server with invalid definitions next to a valid one: official clients get every list.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
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
  prompt(name: string): Promise<JsonObject>;
  read(uri: string): Promise<JsonObject>;
  complete(prompt: string): Promise<JsonObject>;
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
    prompt: async (name) => (await client.getPrompt({ name })) as JsonObject,
    read: async (uri) => (await client.readResource({ uri })) as JsonObject,
    complete: async (name) =>
      (await client.complete({
        ref: { type: "ref/prompt", name },
        argument: { name: "a", value: "" },
      })) as JsonObject,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const CLIENTS: Readonly<Record<string, (url: string) => Promise<OfficialClient>>> = {
  "v1 client": connectV1,
  "v2 client in mode legacy": v2("legacy"),
  "v2 client pinned to 2026-07-28": v2({ pin: "2026-07-28" }),
};

const input = (more: JsonObject): JsonObject => ({ inputSchema: { type: "object", ...more } });

/** Faulty tools. Each of them made official clients reject the whole merged list. */
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
  test.each(Object.keys(CLIENTS))("does not make the %s reject any other entry", async (name) => {
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
  ])("that are %s reach official clients in a valid form", async (_what, capabilities, hasTools) => {
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
  ])("and %s of the wrong type let official clients connect to a hub with only this server", async (_what, opening) => {
    await using hub = await serveHub({ mcp: { stdio_servers: { only: { command: command({ opening }) } } } }, "HTTP");
    for (const connect of Object.values(CLIENTS)) {
      await using client = await connect(hub.url!);
      expect(await client.tools()).toContain("only__seen");
    }
    const { problems } = hub.library!.sources().find(({ source }) => source.id === "only")!;
    expect(problems).toMatchObject([{ subject: Object.keys(opening)[0], repaired: true }]);
  });
});

const TEXT = { type: "text", text: "words" };

describe.each(["legacy", "modern"] as const)("results of a server of the %s era", (era) => {
  const results: JsonObject = {
    "tools/call nulls": {
      content: [
        { ...TEXT, annotations: null, _meta: null },
        { type: "resource_link", uri: "a:b", mimeType: null },
      ],
      structuredContent: null,
      isError: null,
      _meta: null,
    },
    "tools/call failed": { content: [{ ...TEXT, annotations: [] }], structuredContent: null, isError: true },
    "prompts/get hi": {
      description: null,
      messages: [{ role: "user", content: { ...TEXT, annotations: { priority: "high" } } }],
    },
    "resources/read quirky://1": { contents: [{ text: "one", mimeType: null, _meta: null }] },
    "completion/complete": {
      completion: { values: Array.from({ length: 120 }, (_, at) => `v${at}`), total: null, hasMore: "yes" },
    },
  };
  const opening = { capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} } };
  const quirks: Quirks = {
    era,
    opening,
    results,
    tools: ["nulls", "failed"].map((name) => ({ name, inputSchema: { type: "object" } })),
    prompts: [{ name: "hi" }],
    resources: [{ uri: "quirky://1", name: "one" }],
  };

  test.each(Object.keys(CLIENTS))("reach the %s without the members that it would reject", async (name) => {
    await using hub = await serveQuirks(quirks);
    await using client = await CLIENTS[name]!(hub.url!);
    await client.tools();
    const nulls = await client.call("quirky__nulls");
    expect(nulls["content"]).toEqual([TEXT, { type: "resource_link", uri: "a:b", name: "a:b" }]);
    expect(nulls).not.toHaveProperty("structuredContent");
    expect(nulls).not.toHaveProperty("isError");
    const failed = await client.call("quirky__failed");
    expect(failed).toMatchObject({ content: [TEXT], isError: true });
    expect(failed).not.toHaveProperty("structuredContent");
    const prompt = await client.prompt("quirky__hi");
    expect(prompt["messages"]).toEqual([{ role: "user", content: { ...TEXT, annotations: {} } }]);
    expect((await client.read("quirky://1"))["contents"]).toEqual([{ uri: "quirky://1", text: "one" }]);
    const { completion } = (await client.complete("quirky__hi")) as { completion: { values: string[] } };
    expect(completion.values).toHaveLength(100);
    expect(completion).not.toHaveProperty("hasMore");
    const { problems } = hub.library!.sources().find(({ source }) => source.id === "quirky")!;
    expect(problems.map(({ subject }) => subject).toSorted()).toEqual(
      ["quirky://1", "quirky__failed", "quirky__hi", "quirky__nulls"].toSorted(),
    );
  });
});

test("plain HTTP returns the text of a result with null as structured content", async () => {
  const results = { "tools/call nulls": { content: [TEXT], structuredContent: null } };
  const tools = [{ name: "nulls", inputSchema: { type: "object" } }];
  await using hub = await serveQuirks({ tools, results });
  const url = new URL("/api/tools/quirky__nulls", hub.url);
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  expect(await answer.text()).toContain("words");
});

test("sends numeric cursors back to the server unchanged through all pages, and reports them once", async () => {
  const page = (name: string, more: JsonObject): JsonObject => ({
    tools: [{ name, inputSchema: { type: "object" } }],
    ...more,
  });
  const seen = { name: "seen", inputSchema: { type: "object" } };
  const results = {
    "tools/list undefined": page("a", { nextCursor: 1 }),
    "tools/list 1": page("b", { nextCursor: 2 }),
    "tools/list 2": { tools: [seen], nextCursor: null },
  };
  await using hub = await serveQuirks({ results });
  await using client = await connectV1(hub.url!);
  expect((await client.tools()).filter((name) => name.startsWith("quirky"))).toEqual([
    "quirky__a",
    "quirky__b",
    "quirky__seen",
  ]);
  const { structuredContent } = (await client.call("quirky__seen")) as { structuredContent: { seen: JsonObject[] } };
  const cursors = structuredContent.seen.filter(({ method }) => method === "tools/list");
  expect(cursors.map(({ params }) => (params as JsonObject | undefined)?.["cursor"])).toEqual([undefined, 1, 2]);
  const { problems } = hub.library!.sources().find(({ source }) => source.id === "quirky")!;
  expect(problems).toMatchObject([
    { subject: "tools/list", message: "`nextCursor` must be text, got 1: it is returned unchanged.", repaired: true },
  ]);
});

test.each([true, {}, ["2"]])(
  "ends a list at a cursor of %j, with a problem that needs attention",
  async (nextCursor) => {
    const results = { "tools/list": { tools: [{ name: "a", inputSchema: { type: "object" } }], nextCursor } };
    await using hub = await serveQuirks({ results });
    const { problems, tools } = hub.library!.sources().find(({ source }) => source.id === "quirky")!;
    expect(tools).toBe(1);
    expect(problems).toMatchObject([
      { subject: "tools/list", message: expect.stringContaining("the list ends there") },
    ]);
    expect(problems[0]!.repaired).toBeFalsy();
  },
);

test("accepts an empty list as the capability of subscriptions, as PHP writes an empty object", async () => {
  const results = { "resources/subscribe": [], "resources/unsubscribe": [], "logging/setLevel": [], ping: [] };
  await using hub = await serveQuirks({ ...GOOD, results, resources: [{ uri: "quirky://1", name: "one" }] });
  const client = new ClientV1({ name: "v1", version: "1" });
  await client.connect(new HttpV1(new URL(hub.url!)) as Parameters<typeof client.connect>[0]);
  expect(await client.subscribeResource({ uri: "quirky://1" })).toEqual({});
  expect(await client.unsubscribeResource({ uri: "quirky://1" })).toEqual({});
  expect(await client.setLoggingLevel("debug")).toEqual({});
  await client.close();
});

test("does not forward the `task` member of a call, and offers a tool that requires tasks as optional", async () => {
  const tools = [
    { name: "plain", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
    { name: "long", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
  ];
  const results = { "tools/call plain": { content: [TEXT] }, "tools/call long": { content: [TEXT] } };
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  await using hub = await serveQuirks({ tools, results, opening: { capabilities: { tools: {}, tasks } } });
  await using client = await hub.connect({ era: "legacy" });
  const listed = (await client.list("tools/list", "tools")).map(({ name, execution }) => [name, execution]);
  expect(Object.fromEntries(listed)).toMatchObject({
    quirky__plain: { taskSupport: "optional" },
    quirky__long: { taskSupport: "optional" },
  });
  const call = { name: "quirky__plain", arguments: {}, task: { ttl: 1000 } };
  expect(await client.result("tools/call", call)).toMatchObject({ task: { status: "working", ttl: 1000 } });
  expect(await client.result("tools/call", { name: "quirky__plain", arguments: {} })).toMatchObject({
    content: [TEXT],
  });
  expect(await client.result("tools/call", { name: "quirky__long", arguments: {} })).toMatchObject({ content: [TEXT] });
  const { seen } = (await client.tool("quirky__seen"))["structuredContent"] as { seen: JsonObject[] };
  const calls = seen.filter(({ method }) => method === "tools/call").map(({ params }) => params as JsonObject);
  // The first call is a task of the caller, the last one of a tool that requires a task. `1000` is the caller's own.
  expect(calls.map(({ name, task }) => [name, task !== undefined])).toMatchObject([
    ["plain", true],
    ["plain", false],
    ["long", true],
    ["seen", false],
  ]);
  expect(JSON.stringify(calls)).not.toContain("1000");
});
