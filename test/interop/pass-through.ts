// The table of features that the hub must pass on, row by row. Every pairing of eras and every pair of transports runs
// the same rows against a server that sends everything, including unknown members. Exceptions of a pairing are in its
// row, with the reason.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { serveHubs } from "../cluster/served-hubs.ts";
import type { ServerRequestSeen, EraName, RawClient } from "../fixtures/raw/raw-client.ts";
import {
  serveHub,
  startChildServer,
  type ChildServer,
  type EndpointName,
  type ServedHub,
} from "../fixtures/served-hub.ts";
import {
  BLOCKS,
  COMPLETION,
  contentsOf,
  FULL_TOOL,
  INSTRUCTIONS,
  OWN_CAPABILITIES,
  LIST_TOOL,
  messagesOf,
  PROMPTS,
  QUESTIONS,
  RESOURCES,
  TEMPLATES,
  SERVER_INFO,
  TOOLS,
} from "../fixtures/upstreams/rich-offers.mjs";

export interface Pairing {
  readonly client: EraName;
  /** `hubs`: three hubs with one store behind HAProxy. */
  readonly endpoint: EndpointName | "hubs";
  /** True if the server has both eras and uses each client's own. */
  readonly upstream: EraName | "both";
  readonly transport: EndpointName;
}

/** All pairings of one endpoint: client era × server era × the server's transport. */
export function pairingsOf(endpoint: Pairing["endpoint"]): readonly Pairing[] {
  const eras = ["legacy", "modern"] as const;
  return eras.flatMap((client) =>
    eras.flatMap((upstream) =>
      (["stdio", "HTTP"] as const).map((transport) => ({ client, endpoint, upstream, transport })),
    ),
  );
}

/** The pairings with a server of both eras on HTTP. */
export function pairingsOfBoth(): readonly Pairing[] {
  return (["HTTP", "stdio"] as const).flatMap((endpoint) =>
    (["legacy", "modern"] as const).map((client) => ({
      client,
      endpoint,
      upstream: "both" as const,
      transport: "HTTP" as const,
    })),
  );
}

export function titleOf({ client, endpoint, upstream, transport }: Pairing): string {
  return `${client} client (${endpoint}) × ${upstream === "both" ? "two-era" : upstream} server (${transport})`;
}

export const RICH_SCRIPT = fileURLToPath(new URL("../fixtures/upstreams/rich.mjs", import.meta.url));

/** Serves a hub without a prefix for the server that sends everything. */
export async function serveRich(
  { upstream, transport, endpoint }: Omit<Pairing, "client">,
  settings: HubConfig = {},
): Promise<ServedHub> {
  const command = [process.execPath, RICH_SCRIPT, upstream, transport.toLowerCase()];
  let server: ChildServer | undefined;
  if (transport === "HTTP") server = await startChildServer(command);
  const mcp = server
    ? { remote_servers: [{ alias: "rich", url: server.url, namespace: "" }] }
    : { stdio_servers: { rich: { command, namespace: "" } } };
  const config = { ...settings, mcp };
  const hub = endpoint === "hubs" ? await serveHubs(config) : await serveHub(config, endpoint);
  return {
    ...hub,
    [Symbol.asyncDispose]: async () => {
      await hub[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    },
  };
}

const PREFIX = "io.modelcontextprotocol/";
const ANSWERS: Readonly<Record<string, JsonObject>> = {
  "elicitation/create": {
    action: "accept",
    content: { name: "Ada", colour: "g", tags: ["a"], age: 36, sure: true },
    _meta: { "example.test/answer": 1 },
    "x-answer": 1,
  },
  "sampling/createMessage": {
    role: "assistant",
    model: "some-model",
    stopReason: "endTurn",
    content: { type: "text", text: "It.", _meta: { "example.test/answer": 1 }, "x-block": 1 },
    _meta: { "example.test/answer": 1 },
    "x-answer": 1,
  },
  "roots/list": {
    roots: [{ uri: "file:///home/ada", name: "home", _meta: { "example.test/root": 1 }, "x-root": 1 }],
    _meta: { "example.test/answer": 1 },
    "x-answer": 1,
  },
};

const UNDECLARED: JsonObject = { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } };
/** Result of a call that must ask a caller without that capability, by client era and server era. */
const REFUSED: Record<EraName, Record<EraName, JsonObject>> = {
  // The legacy server gets "method not found" and passes it on.
  legacy: { legacy: { code: -32601 }, modern: { isError: true, _meta: { "toolyard/kind": "denied" } } },
  modern: { legacy: UNDECLARED, modern: UNDECLARED },
};

/** Returns the capabilities with the tasks of the hub itself. */
function withTasksOf(capabilities: JsonObject, era: "legacy" | "modern"): JsonObject {
  const { extensions } = capabilities;
  if (era === "legacy") return { ...capabilities, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
  return { ...capabilities, extensions: { ...(extensions as JsonObject), "io.modelcontextprotocol/tasks": {} } };
}

/** Returns the result without members that the modern era adds to each: server info, completeness and cache time. */
function plain(result: JsonObject): JsonObject {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  if (!isJsonObject(rest["_meta"])) return rest;
  const { [`${PREFIX}serverInfo`]: _info, ...meta } = rest["_meta"];
  if (Object.keys(meta).length > 0) return { ...rest, _meta: meta };
  const { _meta: _empty, ...bare } = rest;
  return bare;
}

const structured = (result: JsonObject): JsonObject => result["structuredContent"] as JsonObject;
const named = (entries: readonly JsonObject[], name: string): JsonObject | undefined =>
  entries.find((entry) => entry["name"] === name);

/** Expects the received value to equal the sent one, member by member and in the same order. */
function expectSame(received: unknown, sent: unknown): void {
  expect(received).toEqual(sent);
  expect(JSON.stringify(received)).toBe(JSON.stringify(sent));
}

/** Runs the whole table for one pairing. */
export function describePassThrough(pairing: Pairing, hasPrograms = true): void {
  const { client: clientEra } = pairing;
  const upstream = pairing.upstream === "both" ? clientEra : pairing.upstream;
  /** Only a server without legacy clients offers this list, because the legacy era refuses it. */
  const hasList = pairing.upstream === "modern";
  const title = titleOf(pairing);
  const isModernClient = clientEra === "modern";

  describe(title, () => {
    let hub: ServedHub;
    let client: RawClient;
    let answers = ANSWERS;
    const answer = ({ method }: ServerRequestSeen): JsonObject =>
      answers[method] ?? { error: { code: -32601, message: "Method not found" } };
    const connect = (capabilities?: JsonObject): Promise<RawClient> =>
      hub.connect({ era: clientEra, answer, logLevel: "debug", ...(capabilities && { capabilities }) });
    /** Returns the `params` of the last request of a method at the server. */
    const seen = async (method: string): Promise<JsonObject> =>
      structured(await client.tool("seen", { method }))["params"] as JsonObject;

    beforeAll(async () => {
      if (!hasPrograms) return;
      hub = await serveRich(pairing);
      client = await connect();
      if (clientEra === "legacy") await client.result("logging/setLevel", { level: "debug" });
    });
    beforeEach(({ skip }) => skip(!hasPrograms, "HAProxy is not on this machine"));
    afterAll(async () => {
      await hub?.[Symbol.asyncDispose]();
    });

    test(`${title}: passes on the instructions`, () => {
      expect(client.opening["instructions"]).toBe(INSTRUCTIONS);
      expect(client.opening["capabilities"]).toMatchObject({
        tools: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      });
    });

    test(`${title}: passes on server info, except for name and version`, () => {
      const { serverInfo, _meta = {} } = client.opening as { serverInfo?: JsonObject; _meta?: JsonObject };
      const { name, version, ...about } = SERVER_INFO;
      const shown = (serverInfo ?? _meta[`${PREFIX}serverInfo`]) as JsonObject;
      expect(shown).toEqual({ ...about, name: "toolyard", version: expect.any(String) });
      expect([name, version]).not.toEqual([shown["name"], shown["version"]]);
    });

    test(`${title}: passes on unknown capabilities and extensions; tasks are the hub's own`, () => {
      const {
        tools,
        resources: _resources,
        prompts: _prompts,
        completions: _completions,
        logging: _logging,
        ...others
      } = client.opening["capabilities"] as JsonObject;
      expect(tools).toEqual({ listChanged: true, "x-tools": 1 });
      expect(others).toEqual(withTasksOf(OWN_CAPABILITIES, clientEra));
    });

    test(`${title}: lists tools of every page, in the order of their server`, async () => {
      const names = (await client.list("tools/list", "tools")).map(({ name }) => name);
      const offered = [...TOOLS, ...(hasList ? [LIST_TOOL] : [])].map(({ name }) => name);
      expect(names.filter((name) => !String(name).startsWith("grown"))).toEqual(offered);
    });

    test(`${title}: lists schemas, annotations, icons, titles, _meta and unknown members of a tool`, async () => {
      expectSame(named(await client.list("tools/list", "tools"), "full"), FULL_TOOL);
    });

    test(`${title}: returns structured content, _meta and unknown members of a result`, async () => {
      const result = await client.tool("full", { city: "Oslo" });
      expectSame(plain(result), {
        content: [{ type: "text", text: "21 degrees" }],
        structuredContent: { temperature: 21, city: "Oslo", "x-structured": 1 },
        _meta: { "example.test/result": { deep: true } },
        "x-result": 1,
      });
      if (isModernClient)
        expect(result).toMatchObject({
          resultType: "complete",
          _meta: { [`${PREFIX}serverInfo`]: { name: "toolyard" } },
        });
      else expect(result).not.toHaveProperty("resultType");
    });

    if (hasList) {
      test(`${title}: returns structured content that is not an object`, async () => {
        const tool = named(await client.list("tools/list", "tools"), "list-output");
        const result = plain(await client.tool("list-output"));
        // The legacy era only allows objects, so the value is wrapped in one, and is also in the text for clients that
        // read only text.
        const wrapped = { content: [{ type: "text", text: "[1,2,3]" }], structuredContent: { result: [1, 2, 3] } };
        expect(result).toEqual(isModernClient ? { content: [], structuredContent: [1, 2, 3] } : wrapped);
        const schema = { type: "array", items: { type: "integer" } };
        expect(tool?.["outputSchema"]).toEqual(
          isModernClient ? schema : { type: "object", properties: { result: schema }, required: ["result"] },
        );
      });
    }

    test(`${title}: returns images, audio, links, embedded resources, unknown blocks and members`, async () => {
      const result = await client.tool("blocks");
      expectSame(plain(result), {
        content: BLOCKS,
        _meta: { "example.test/result": { deep: true } },
        "x-result": { kept: true },
      });
    });

    test(`${title}: an empty result stays empty`, async () => {
      expectSame(plain(await client.tool("bare")), { content: [] });
    });

    test(`${title}: arguments, _meta and unknown params reach the server unchanged`, async () => {
      const args = { n: 1, text: "ü", deep: { list: [null, 1.5, "x"] }, "x-argument": true };
      const params = structured(
        await client.tool("echo", args, {
          _meta: { "example.test/own": { a: 1 }, traceparent: "00-1-2-03" },
          "x-param": { kept: true },
        }),
      )["params"] as JsonObject;
      expect(params).toMatchObject({ name: "echo", arguments: args, "x-param": { kept: true } });
      const { _meta, ...rest } = params;
      expect(Object.keys(rest).toSorted()).toEqual(["arguments", "name", "x-param"]);
      const { progressToken: _token, ...meta } = _meta as JsonObject;
      const envelope = {
        [`${PREFIX}protocolVersion`]: "2026-07-28",
        [`${PREFIX}clientCapabilities`]: {
          sampling: { tools: {}, context: {} },
          elicitation: { form: {}, url: {} },
          roots: { listChanged: true },
          // The hub declares tasks, because it follows a task of the server for its caller.
          extensions: { "io.modelcontextprotocol/tasks": {} },
        },
        [`${PREFIX}clientInfo`]: { name: "raw", version: "1" },
        [`${PREFIX}logLevel`]: "debug",
      };
      expect(meta).toEqual({
        "example.test/own": { a: 1 },
        traceparent: "00-1-2-03",
        ...(upstream === "modern" && envelope),
      });
    });

    test(`${title}: a tool's failure arrives unchanged`, async () => {
      const result = await client.tool("fail");
      expectSame(plain(result), {
        content: [{ type: "text", text: "it failed" }],
        isError: true,
        structuredContent: { why: "because" },
        _meta: { "example.test/result": 1 },
        "x-result": 1,
      });
    });

    test(`${title}: a protocol error keeps code, message and data`, async () => {
      const { error } = await client.call("tools/call", { name: "refuse", arguments: {} });
      expectSame(error, { code: -32050, message: "own error", data: { why: "because", deep: [1] } });
    });

    test(`${title}: every progress arrives, in order, before the answer and with the caller's token`, async () => {
      const since = client.received.length;
      await client.tool("progress", { steps: 3 }, { _meta: { progressToken: "my token" } });
      const notifications = client.heard("notifications/progress", since);
      expect(notifications).toEqual(
        [1, 2, 3].map((step) => ({
          progressToken: "my token",
          progress: step,
          total: 3,
          message: `step ${step}`,
          _meta: { "example.test/notice": 1 },
          "x-notice": 1,
        })),
      );
      expect(client.received.slice(since).findIndex((message) => "result" in message)).toBe(3);
    });

    test(`${title}: no progress is sent to a caller without a token`, async () => {
      const since = client.received.length;
      await client.tool("progress", { steps: 3 });
      expect(client.heard("notifications/progress", since)).toEqual([]);
    });

    test(`${title}: logs of a call arrive, with their unknown members`, async () => {
      const since = client.received.length;
      await client.tool("log");
      const notifications = client.heard("notifications/message", since);
      expect(notifications).toEqual(
        ["debug", "warning"].map((level) => ({
          level,
          logger: "rich",
          data: { words: `a ${level}`, list: [1] },
          _meta: { "example.test/notice": 1 },
          "x-notice": 1,
        })),
      );
    });

    test.each([
      ["elicitation by form", "elicit"],
      ["elicitation by URL", "elicit-url"],
      ["sampling", "sample"],
      ["roots", "roots"],
    ] as const)(
      `${title}: passes %s to the caller unchanged, and its answer to the server unchanged`,
      async (_what, name) => {
        const already = client.asked.length;
        const result = await client.tool(name);
        const { method, params } = QUESTIONS[name];
        expect(client.asked.slice(already)).toEqual([{ method, params }]);
        expectSame(structured(result)["answer"], ANSWERS[method]);
      },
    );

    test(`${title}: cancellation reaches the tool`, async () => {
      const cancelled = async (): Promise<JsonObject[]> =>
        structured(await client.tool("cancelled"))["cancelled"] as JsonObject[];
      const before = (await cancelled()).length;
      const end = new AbortController();
      const started = client.next("notifications/progress");
      const running = client.request(
        "tools/call",
        { name: "hang", arguments: {}, _meta: { progressToken: 7 } },
        { signal: end.signal, reason: "enough" },
      );
      await started;
      end.abort();
      await expect(running).rejects.toThrow("given up");
      await expect.poll(async () => (await cancelled()).length).toBe(before + 1);
      // On modern HTTP the end of a stream means cancellation, without a message.
      const hasWords = [
        pairing.endpoint === "stdio" || !isModernClient,
        pairing.transport === "stdio" || upstream === "legacy",
      ];
      if (hasWords[1])
        expect((await cancelled()).at(-1)).toEqual({
          name: "hang",
          reason: hasWords[0] ? "enough" : "cancelled by the caller",
        });
    });

    test(`${title}: lists resources with icons, titles, annotations, size, _meta and unknown members`, async () => {
      const listed = (await client.list("resources/list", "resources")).filter(
        ({ name }) => !String(name).startsWith("grown"),
      );
      expectSame(listed, RESOURCES);
    });

    test(`${title}: lists resource templates with all their members`, async () => {
      expectSame(await client.list("resources/templates/list", "resourceTemplates"), TEMPLATES);
    });

    test.each(["rich://full", "rich://items/7"])(
      `${title}: reading %s returns contents, _meta and unknown members`,
      async (uri) => {
        expectSame(
          plain(await client.result("resources/read", { uri, "x-param": 1, _meta: { "example.test/own": 1 } })),
          contentsOf(uri),
        );
        expect(await seen("resources/read")).toMatchObject({ uri, "x-param": 1, _meta: { "example.test/own": 1 } });
      },
    );

    test(`${title}: a missing resource is refused with the error of the client's era`, async () => {
      const { error } = await client.call("resources/read", { uri: "rich://watched" });
      expect(error).toEqual({
        code: isModernClient ? -32602 : -32002,
        message: "Resource not found: rich://watched",
        data: { uri: "rich://watched", own: 1 },
      });
    });

    test(`${title}: lists prompts with all their members`, async () => {
      const listed = (await client.list("prompts/list", "prompts")).filter(
        ({ name }) => !String(name).startsWith("grown"),
      );
      expectSame(listed, PROMPTS);
    });

    test(`${title}: a prompt's messages and arguments arrive unchanged`, async () => {
      const result = await client.result("prompts/get", {
        name: "full",
        arguments: { who: "Ada" },
        "x-param": 1,
        _meta: { "example.test/own": 1 },
      });
      expectSame(plain(result), messagesOf({ who: "Ada" }));
      expect(await seen("prompts/get")).toMatchObject({
        name: "full",
        arguments: { who: "Ada" },
        "x-param": 1,
        _meta: { "example.test/own": 1 },
      });
    });

    test(`${title}: a missing prompt is refused`, async () => {
      expect((await client.call("prompts/get", { name: "nobody" }))["error"]).toMatchObject({ code: -32602 });
    });

    test.each([
      ["a prompt", { type: "ref/prompt", name: "full", title: "Full", "x-ref": 1 }],
      ["a template", { type: "ref/resource", uri: "rich://items/{id}", "x-ref": 1 }],
    ])(`${title}: returns the completion of %s`, async (_what, ref) => {
      const params = {
        ref,
        argument: { name: "who", value: "A" },
        context: { arguments: { how: "well" } },
        "x-param": 1,
      };
      expectSame(plain(await client.result("completion/complete", params)), COMPLETION);
      expect(await seen("completion/complete")).toMatchObject(params);
    });

    describe("subscriptions", () => {
      let listener: RawClient;
      beforeAll(async () => {
        listener = pairing.endpoint === "stdio" ? client : await connect();
        await listener.listen(["rich://watched"]);
      });

      test.each([
        ["tools", "tools/list", "tools"],
        ["resources", "resources/list", "resources"],
        ["prompts", "prompts/list", "prompts"],
      ])(`${title}: notifies that the %s changed, and the next list shows it`, async (list, method, member) => {
        const heard = listener.next(`notifications/${list}/list_changed`);
        const { content } = await client.tool("grow", { list });
        const name = (content as JsonObject[])[0]!["text"];
        await heard;
        const found = async (): Promise<unknown> => named(await listener.list(method, member), String(name));
        // The next hub may hear of the change later, because each hub hears it from the server.
        if (pairing.endpoint === "hubs") await expect.poll(found).toBeDefined();
        else expect(await found()).toBeDefined();
      });

      test(`${title}: notifies of a subscribed resource's update with unknown members, and of no other`, async () => {
        const since = listener.received.length;
        const heard = listener.next("notifications/resources/updated");
        await client.tool("touch", { uri: "rich://full" });
        await client.tool("touch", { uri: "rich://watched" });
        const { params } = await heard;
        expect(params).toMatchObject({
          uri: "rich://watched",
          title: "Watched",
          _meta: { "example.test/notice": 1 },
          "x-notice": 1,
        });
        expect(listener.heard("notifications/resources/updated", since)).toHaveLength(1);
      });
    });

    test(`${title}: the server learns that a caller declined`, async () => {
      const declined = { action: "decline", "x-answer": 1 };
      answers = { ...ANSWERS, "elicitation/create": declined };
      expect(structured(await client.tool("elicit"))["answer"]).toEqual(declined);
      answers = ANSWERS;
    });

    test(`${title}: a caller without the capability receives no server request`, async () => {
      // In the modern era each request states the client's capabilities.
      const mute = isModernClient ? client : await connect({});
      const already = mute.asked.length;
      const reply = await mute.call("tools/call", {
        name: "elicit",
        arguments: {},
        ...(isModernClient && { _meta: { [`${PREFIX}clientCapabilities`]: {} } }),
      });
      expect(mute.asked).toHaveLength(already);
      expect(reply["error"] ?? plain(objectMember(reply, "result") ?? {})).toMatchObject(REFUSED[clientEra][upstream]);
    });

    test(`${title}: omits logs below the requested level`, async () => {
      const since = client.received.length;
      if (clientEra === "legacy") await client.result("logging/setLevel", { level: "warning" });
      await client.tool("log", {}, isModernClient ? { _meta: { [`${PREFIX}logLevel`]: "warning" } } : {});
      expect(client.heard("notifications/message", since).map(({ level }) => level)).toEqual(["warning"]);
      if (clientEra === "legacy") await client.result("logging/setLevel", { level: "debug" });
    });
  });
}
