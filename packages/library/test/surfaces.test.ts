// Every kind of endpoint of a hub calls the library's tools and returns the same results as the hub.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "smol-toml";
import type { JsonObject } from "../../toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../toolyard/src/core/ports/ports.ts";
import { loadHubConfig, openHub, type Hub } from "../../toolyard/src/hub/open-hub.ts";
import type { HubConfig } from "../../toolyard/src/hub/schema.ts";
import { serveHttp, type ServedHttp } from "../../toolyard/src/hub/serve/serve.ts";
import { MCPManager } from "../../toolyard/src/manager.ts";
import { ROOT } from "../../../test/cli/harness.ts";
import { HttpWire } from "../../../test/fixtures/raw/http-wire.ts";
import { RawClient } from "../../../test/fixtures/raw/raw-client.ts";
import type { Answer, Ground, Surface } from "../../../test/endpoints/surface.ts";
import { SURFACES } from "../../../test/endpoints/surfaces.ts";
import { CLEAR_IDEAS } from "./books.ts";
import { settled } from "../../toolyard/src/hub/sources/settled.ts";

const TOKEN = "reader-token";
/** Calls, first the one in the requirements. Calls that would change the library are refused or change nothing. */
const CALLS: readonly (readonly [tool: string, args: JsonObject])[] = [
  ["search_chunks", { query: "What is nominalism?", limit: 5, author_filter: "Charles Sanders Peirce" }],
  ["library.ping", {}],
  ["parse_pdf", { pdf_path: "clear.md" }],
  ["search_summaries", { query: "truth", min_level: 1, max_level: 5 }],
  ["get_document", { source_id: "clear", include_chunks: true }],
  ["list_documents", {}],
  ["get_chunks_by_document", { source_id: "clear", section_filter: "On Clear Ideas › Truth" }],
  ["filter_by_author", { author: "peirce" }],
  ["delete_document", { source_id: "clear" }],
  ["find_text", { quote: "Nobody takes another for it" }],
  ["get_passage", { chunk_id: "clear#0" }],
  ["add_documents", { paths: ["none.md"] }],
  ["ingest_status", { job_id: "none" }],
];
const WRONG = ["search_chunks", { query: "a", limit: 501 }] as const;
/** Clients that start a hub, and with it a library, for each call. */
const DEAR = ["command line"];

let ground: Ground;
let hub: Hub;
let expected: readonly Answer[];
let folder: string;
const endpoints: ServedHttp[] = [];

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-surfaces-")));
  mkdirSync(join(folder, "books"));
  writeFileSync(join(folder, "books/clear.md"), CLEAR_IDEAS);
  const settings: HubConfig = {
    mcp: {
      stdio_servers: {
        library: {
          // The command that a built hub runs for `[services] library = true`.
          command: [process.execPath, join(ROOT, "packages/library/dist/main.js"), "--stdio"],
          env: { LIBRARY_ROOTS: join(folder, "books"), TOOLYARD_HOME: join(folder, "home") },
          namespace: "",
        },
      },
    },
    builtin: { execute_code: true },
    limits: { rate_per_minute: 0 },
  };
  writeFileSync(join(folder, "toolyard.toml"), stringify(settings));
  const variables = { PATH: process.env["PATH"] ?? "", HOME: folder, TOOLYARD_HOME: join(folder, "home") };
  const config = await loadHubConfig({ files: [], variables, flags: settings });
  hub = await openHub({ config, variables, logger: SILENT_LOGGER });
  await settled(hub, 60_000);
  endpoints.push(
    await serveHttp(hub, { port: 0, tokens: { reader: { token: TOKEN } } }),
    await serveHttp(hub, { port: 0 }),
  );
  const [{ url }, { port: openPort }] = endpoints.map(({ address }) => address) as [
    ServedHttp["address"],
    { port: number },
  ];
  ground = { settings, variables, hub, url, openPort, config: join(folder, "toolyard.toml") };
  const direct = await SURFACES["library"]!.open(ground, TOKEN);
  await direct.call("add_documents", { paths: ["clear.md"] });
  expected = await answers(direct, CALLS);
  await direct.close();
});
afterAll(async () => {
  await Promise.all(endpoints.map((endpoint) => endpoint.close(0)));
  await hub.close();
  rmSync(folder, { recursive: true, force: true });
});

async function answers(surface: Surface, calls: typeof CALLS): Promise<Answer[]> {
  const all: Answer[] = [];
  for (const [tool, args] of calls) all.push(await surface.call(tool, args));
  return all;
}

// The manager has a separate line for each tool, see below.
const ALL = Object.entries(SURFACES).filter(([name]) => name !== "manager");

describe.each(ALL.map(([name, { open }]) => [name, open] as const))("%s", (name, open) => {
  test("R23: the library's tools return the same results on every surface, and refuse invalid parameters", async () => {
    const surface = await open(ground, TOKEN);
    try {
      const calls = DEAR.includes(name) ? CALLS.slice(0, 1) : CALLS;
      const told = expected.slice(0, calls.length).map((answer) => {
        if ("value" in answer) return answer;
        return { failure: surface.told(answer.failure["kind"] as Parameters<Surface["told"]>[0]) };
      });
      expect(await answers(surface, calls)).toEqual(told);
      expect(await surface.call(...WRONG)).toEqual({ failure: surface.told("invalid_params") });
    } finally {
      await surface.close();
    }
  });
});

test("R25: every endpoint returns the results that the requirements demand", () => {
  expect(expected.slice(0, 4)).toMatchObject([
    { value: { results: [{ order_index: 1 }], query: "What is nominalism?" } },
    { value: "pong" },
    { value: { success: true, status: "unchanged" } },
    { value: { results: expect.any(Array) } },
  ]);
  expect(expected.slice(-2)).toEqual([{ failure: { kind: "tool_error" } }, { failure: { kind: "tool_error" } }]);
});

test("the tool manager calls a library tool among many servers", async () => {
  const line = { host: "127.0.0.1", port: ground.openPort, path: "/mcp?tool_mode=show_all", name: "Library MCP" };
  const manager = new MCPManager({ search_chunks: line }, { logger: SILENT_LOGGER });
  const [tool, args] = CALLS[0]!;
  expect({ value: await manager.callTool(tool, args) }).toEqual(expected[0]);
  await manager.close();
});

test("code written by a model calls the library's tools", async () => {
  const code = `return (await tools.search_chunks(${JSON.stringify(CALLS[0]![1])})).results[0].source_id;`;
  const client = await SURFACES["MCP on HTTP, modern"]!.open(ground, TOKEN);
  expect(await client.call("execute_code", { language: "javascript", code })).toMatchObject({
    value: { result: "clear" },
  });
  await client.close();
});

test("/openapi.json contains the library's tools with their limits and optional parameters", async () => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { paths, components } = (await (await fetch(`${ground.url}/openapi.json`, { headers })).json()) as {
    paths: Record<string, object>;
    components: { schemas: Record<string, object> };
  };
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(CALLS.map(([tool]) => `/api/tools/${tool.replaceAll(".", "_")}`)),
  );
  expect(components.schemas["search_chunks.input"]).toMatchObject({
    properties: { query: { minLength: 1, maxLength: 1_000 }, limit: { minimum: 1, maximum: 500, default: 10 } },
    required: ["query"],
  });
});

describe.each(["legacy", "modern"] as const)("MCP on HTTP, %s", (era) => {
  let client: RawClient;
  beforeAll(async () => {
    client = await RawClient.open(new HttpWire(`${ground.url}/mcp`, era, { authorization: `Bearer ${TOKEN}` }), {
      era,
    });
  });
  afterAll(() => client.close());
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> =>
    (await client.request(method, params)) as JsonObject;

  test("C38: documents and their pages are resources, listed as templates", async () => {
    const { result } = await ask("resources/templates/list", {});
    expect(result).toMatchObject({
      resourceTemplates: expect.arrayContaining([
        expect.objectContaining({ uriTemplate: "library://{collection}/document/{source_id}" }),
        expect.objectContaining({ uriTemplate: "library://{collection}/document/{source_id}/page/{page}" }),
      ]) as unknown,
    });
    const read = await ask("resources/read", { uri: "library://default/document/clear" });
    const [{ text }] = (read["result"] as { contents: { text: string }[] }).contents as [{ text: string }];
    expect(JSON.parse(text)).toMatchObject({
      source_id: "clear",
      toc: { entries: [{ title: "On Clear Ideas", level: 1 }, {}, { title: "Truth" }] },
      hierarchy: { sections: [{ title: "On Clear Ideas", sections: [{ title: "Clearness" }, { title: "Truth" }] }] },
    });
  });

  test.each([
    "library://default/document/none",
    "library://other/document/clear",
    "library://default/document/clear/page/9",
  ])("C38: reading %s, which does not exist, is an error", async (uri) => {
    expect(await ask("resources/read", { uri })).toMatchObject({ error: { code: expect.any(Number) as number } });
  });

  test("the prompts restrict a model to the returned passages and to verified quotations", async () => {
    const said = async (name: string, args: JsonObject): Promise<string> =>
      JSON.stringify((await ask("prompts/get", { name, arguments: args }))["result"]);
    const answer = await said("answer_with_citations", { question: "What is truth?", author: "Peirce" });
    expect(answer).toContain("What is truth?");
    expect(answer).toMatch(/author_filter.{3,9}Peirce.*find_text/su);
    const compared = await said("compare_authors", { topic: "truth", first: "Peirce", second: "Fontaine" });
    expect(compared).toMatch(/Peirce and Fontaine say about truth/u);
    const refused = await ask("prompts/get", { name: "answer_with_citations", arguments: {} });
    expect(refused).toMatchObject({ error: { code: expect.any(Number) as number } });
  });

  test("completes authors and ids from the library", async () => {
    const values = async (ref: JsonObject, argument: JsonObject): Promise<unknown> =>
      (await ask("completion/complete", { ref, argument }))["result"];
    const prompt = { type: "ref/prompt", name: "answer_with_citations" };
    expect(await values(prompt, { name: "author", value: "peir" })).toMatchObject({
      completion: { values: ["Peirce, Charles Sanders"] },
    });
    const template = { type: "ref/resource", uri: "library://{collection}/document/{source_id}" };
    expect(await values(template, { name: "source_id", value: "cl" })).toMatchObject({
      completion: { values: ["clear"] },
    });
  });
});
