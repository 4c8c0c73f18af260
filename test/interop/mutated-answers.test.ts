// Messages of a server with each member mutated in turn. Through the hub an official client accepts at least the
// messages that it accepts on a direct connection, with the same content.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as PipeV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  InitializeResultSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { readOpening } from "../../packages/toolyard/src/upstream/connection/server-opening.ts";
import { serveHub } from "../fixtures/served-hub.ts";
import {
  BLOCKS,
  COMPLETION,
  contentsOf,
  INSTRUCTIONS,
  messagesOf,
  OWN_CAPABILITIES,
  QUESTIONS,
  SERVER_INFO,
} from "../fixtures/upstreams/rich-offers.mjs";
import { fewMutationsOf, mutationsOf, type Mutation } from "../support/mutate-members.ts";

const SCRIPT = fileURLToPath(new URL("../fixtures/upstreams/quirks.mjs", import.meta.url));

/** End of a call at the client: a value, or a refusal of the answer. */
type Ending = { readonly value: JsonObject } | { readonly refusal: string };

/** Reads the answers of one server with an official client. */
interface Reader extends AsyncDisposable {
  call(name: string): Promise<Ending>;
  prompt(name: string): Promise<Ending>;
  read(uri: string): Promise<Ending>;
  complete(prompt: string): Promise<Ending>;
  /** Progress and log messages received so far. */
  readonly heard: unknown[];
}

async function ending(work: Promise<unknown>): Promise<Ending> {
  try {
    return { value: (await work) as JsonObject };
  } catch (error) {
    return { refusal: String(error) };
  }
}

const ANSWER = { action: "accept", content: { name: "Ada" } } as const;
const MESSAGE = { role: "assistant", model: "m", content: { type: "text", text: "It." } } as const;
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/**
 * Time limit on a direct connection. An SDK drops some faulty messages silently, so their request ends only by timeout.
 */
const DIRECT_MS = 1500;

function readerOf(client: ClientV1 | Client, target: Target, heard: unknown[]): Reader {
  // Both clients have these members, with different types.
  const one = client as ClientV1;
  const options = "url" in target ? {} : { timeout: DIRECT_MS };
  const onprogress = (progress: unknown): void => void heard.push(progress);
  return {
    heard,
    call: (name) => ending(callOf(client, name, { ...options, onprogress })),
    prompt: (name) => ending(one.getPrompt({ name }, options)),
    read: (uri) => ending(one.readResource({ uri }, options)),
    complete: (name) =>
      ending(one.complete({ ref: { type: "ref/prompt", name }, argument: { name: "a", value: "" } }, options)),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function callOf(client: ClientV1 | Client, name: string, options: RequestOptions): Promise<unknown> {
  const call = { name, arguments: {} };
  return client instanceof ClientV1 ? client.callTool(call, undefined, options) : client.callTool(call, options);
}

type Target = { readonly url: string } | { readonly args: string[] };

async function openV1(target: Target): Promise<Reader> {
  const client = new ClientV1({ name: "v1", version: "1" }, { capabilities: CAPABILITIES });
  const heard: unknown[] = [];
  client.setRequestHandler(ElicitRequestSchema, () => ({ ...ANSWER }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({ ...MESSAGE }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///home" }] }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params));
  const transport =
    "url" in target
      ? new HttpV1(new URL(target.url))
      : new PipeV1({ command: process.execPath, args: target.args, stderr: "ignore" });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return readerOf(client, target, heard);
}

async function openV2(target: Target): Promise<Reader> {
  const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(
    "url" in target
      ? new StreamableHTTPClientTransport(new URL(target.url))
      : new StdioClientTransport({ command: process.execPath, args: target.args, stderr: "ignore" }),
  );
  return readerOf(client, target, []);
}

interface Pair extends AsyncDisposable {
  readonly direct: Reader;
  readonly hub: Reader;
}

/** Opens the same server directly and behind a hub. */
async function openPair(quirks: JsonObject, open: (target: Target) => Promise<Reader>): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-mutated-"));
  const file = join(folder, "quirks.json");
  writeFileSync(file, JSON.stringify(quirks));
  const args = [SCRIPT, `@${file}`];
  const only = { command: [process.execPath, ...args], namespace: "" };
  const served = await serveHub(
    { mcp: { stdio_servers: { only } }, limits: { breaker: { failures: 100_000 } } },
    "HTTP",
  );
  const [direct, hub] = await Promise.all([open({ args }), open({ url: served.url! })]);
  return {
    direct,
    hub,
    [Symbol.asyncDispose]: async () => {
      await direct[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

const RESULT = {
  content: BLOCKS.slice(0, 6),
  structuredContent: { a: 1 },
  isError: false,
  _meta: { "example.test/result": 1 },
};

/**
 * Cases in which the hub refuses an answer that the SDKs accept, because the schema of the revision forbids it, or in
 * which it adds a member.
 */
const OTHER = /size = -1\.5$|^content = absent$|^structuredContent = null$/;

/** Removes the server info, which the modern era puts into each result; through the hub it is the hub's. */
function withoutIdentity(given: Ending): Ending {
  if (!("value" in given)) return given;
  const { "io.modelcontextprotocol/serverInfo": _server, ...meta } = objectMember(given.value, "_meta") ?? {};
  const { _meta: _all, ...rest } = given.value;
  return { value: Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta } };
}

/** Compares the result of each call through the hub with the direct result. */
async function expectSameOrMore(
  mutations: readonly Mutation<JsonObject>[],
  read: (at: number) => readonly [direct: Promise<Ending>, hub: Promise<Ending>],
): Promise<void> {
  let refused = 0;
  let repaired = 0;
  const endings = mutations.map((_, at) => Promise.all(read(at)));
  for (const [at, { title }] of mutations.entries()) {
    const [direct, hub] = (await endings[at]!).map(withoutIdentity) as [Ending, Ending];
    if ("value" in direct) {
      if (!OTHER.test(title)) expect(hub, title).toEqual(direct);
      continue;
    }
    refused += 1;
    if ("value" in hub) repaired += 1;
    else expect(hub.refusal, title).not.toContain("error id");
  }
  expect(refused).toBeGreaterThan(0);
  expect(repaired).toBeGreaterThan(0);
}

const SIDES = { legacy: openV1, modern: openV2 } as const;

describe.each(["legacy", "modern"] as const)("an official client of the %s era", (era) => {
  const title = (what: string): string => `${era}: reads ${what} through the hub as directly, or with less refused`;

  test(title("spoiled tool results"), async () => {
    const mutations = fewMutationsOf<JsonObject>(RESULT);
    const names = mutations.map((_, at) => `m${at}`);
    const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));
    const results = Object.fromEntries(mutations.map(({ value }, at) => [`tools/call m${at}`, value]));
    await using pair = await openPair({ era, tools, results }, SIDES[era]);
    await expectSameOrMore(mutations, (at) => [pair.direct.call(names[at]!), pair.hub.call(names[at]!)]);
  });

  test(title("spoiled prompts, resources and completions"), async () => {
    const prompts = fewMutationsOf(messagesOf({ who: "Ada" }));
    const contents = fewMutationsOf(contentsOf("quirky://one"));
    const completions = fewMutationsOf(COMPLETION);
    const names = Array.from({ length: Math.max(prompts.length, completions.length) }, (_, at) => `p${at}`);
    const uris = contents.map((_, at) => `quirky://${at}`);
    const results = Object.fromEntries([
      ...prompts.map(({ value }, at) => [`prompts/get p${at}`, value]),
      ...contents.map(({ value }, at) => [`resources/read quirky://${at}`, value]),
    ]);
    const completionResults = Object.fromEntries(
      completions.map(({ value }, at) => [`completion/complete p${at}`, value]),
    );
    await using pair = await openPair(
      {
        era,
        opening: { capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} } },
        prompts: names.map((name) => ({ name })),
        resources: uris.map((uri) => ({ uri, name: uri })),
        results: { ...results, ...completionResults },
      },
      SIDES[era],
    );
    const { direct, hub } = pair;
    await expectSameOrMore(prompts, (at) => [direct.prompt(names[at]!), hub.prompt(names[at]!)]);
    await expectSameOrMore(contents, (at) => [direct.read(uris[at]!), hub.read(uris[at]!)]);
    await expectSameOrMore(completions, (at) => [direct.complete(names[at]!), hub.complete(names[at]!)]);
  });
});

test("mutated server requests get the same answer through the hub as directly", async () => {
  const spoiled = Object.values(QUESTIONS).flatMap(({ method, params }) =>
    mutationsOf<JsonObject>(params).map(({ title, value }) => ({
      title: `${method} ${title}`,
      value: { method, params: value },
    })),
  );
  // Each mutation is a server request, and the hub sends these in sequence. Every seventh mutation covers each member.
  const chosen = spoiled.filter((_, at) => at % 7 === 0);
  const asks = Object.fromEntries(chosen.map(({ value }, at) => [`m${at}`, value]));
  const tools = Object.keys(asks).map((name) => ({ name, inputSchema: { type: "object" } }));
  await using pair = await openPair({ tools, asks }, openV1);
  for (const [at, { title }] of chosen.entries()) {
    const direct = await pair.direct.call(`m${at}`);
    const hub = await pair.hub.call(`m${at}`);
    if ("value" in direct) expect(hub, title).toEqual(direct);
    else expect("value" in hub || hub.refusal, title).not.toContain("error id");
  }
});

test("passes on a server's mutated notifications as on a direct connection, and the call continues", async () => {
  const notes: readonly JsonObject[] = [
    { method: "notifications/progress", params: { progressToken: "$token", progress: 1, total: 2, message: "half" } },
    { method: "notifications/message", params: { level: "info", logger: "l", data: { a: 1 } } },
  ];
  const mutations = notes.flatMap((note) => mutationsOf(note).filter(({ title }) => title.startsWith("params")));
  const tools = mutations.map((_, at) => ({ name: `m${at}`, inputSchema: { type: "object" } }));
  const sent = Object.fromEntries(mutations.map(({ value }, at) => [`m${at}`, [value]]));
  const results = { "tools/call": { content: [] } };
  await using pair = await openPair({ tools, notes: sent, results }, openV1);
  for (const [at, { title }] of mutations.entries()) {
    const { direct, hub } = pair;
    direct.heard.splice(0);
    hub.heard.splice(0);
    expect(await direct.call(`m${at}`), title).toMatchObject({ value: { content: [] } });
    expect(await hub.call(`m${at}`), title).toMatchObject({ value: { content: [] } });
    expect(hub.heard, title).toEqual(direct.heard);
  }
});

test("the official client accepts the hub's form of every mutated opening; a valid one is unchanged", () => {
  const opening = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {}, ...OWN_CAPABILITIES },
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
  };
  for (const { title, value } of mutationsOf(opening)) {
    const { faults, unclear: _unclear, ...read } = readOpening(value, value.serverInfo);
    const { name: _name, version: _version, ...about } = read.serverInfo;
    const shown = { ...opening, instructions: undefined, ...read, serverInfo: { ...about, name: "hub", version: "1" } };
    expect(InitializeResultSchema.safeParse(shown).error, title).toBeUndefined();
    // The SDK accepts a list for an object, which no revision allows.
    const isGood = InitializeResultSchema.safeParse(value).success && !/ = \[/.test(title);
    if (isGood) expect(faults, title).toEqual([]);
  }
});
