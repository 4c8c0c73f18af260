// Names without a dot, for clients that pass the listed names to a model's API.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toAnthropicTools, toGoogleTools, toMistralTools, toOpenAITools } from "../../packages/toolyard/src/agent.ts";
import { isJsonObject, listMember, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { serveHttp, type ServedHttp } from "../../packages/toolyard/src/hub/serve/serve.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { SseWire } from "../fixtures/raw/sse-wire.ts";
import { HubPipe } from "./drivers/mcp.ts";
import { NAMED_SERVER, NameYard } from "./name-yard.ts";
import { FULL } from "./served-yard.ts";

/** Names that every vendor accepts. */
const SAFE = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const LONG = "a.name.that.goes.on.and.on.until.no.model.takes.it.any.more.and.then.some";
const LISTED = ["say.here", "say_here", "a.b.c", ".", "..", "plain", "7.zip", LONG];
const HEADERS = { authorization: `Bearer ${FULL}` };

let yard: NameYard;
let dotless: ServedHttp;

beforeAll(async () => {
  yard = await NameYard.open({ dots: { command: [...NAMED_SERVER, "dots", ...LISTED] } });
  dotless = await serveHttp(yard.hub, { port: 0, tool_names: "model" });
}, 60_000);
afterAll(async () => {
  await dotless.close(0);
  await yard[Symbol.asyncDispose]();
});

async function listed(client: RawClient): Promise<readonly string[]> {
  const reply = await client.request("tools/list");
  return listMember(reply["result"] as JsonObject, "tools")
    .map((tool) => String((tool as JsonObject)["name"]))
    .filter((name) => name.startsWith("dots__"));
}

/** Lists the tools, then calls each by its listed name. */
async function expectNames(client: RawClient, isSafe: boolean): Promise<void> {
  try {
    const names = await listed(client);
    expect(names).toHaveLength(LISTED.length);
    expect(new Set(names).size).toBe(LISTED.length);
    expect(names.every((name) => SAFE.test(name))).toBe(isSafe);
    const called = new Set<unknown>();
    for (const name of names) {
      const { result } = await client.request("tools/call", { name, arguments: {} });
      called.add((listMember(result as JsonObject, "content")[0] as JsonObject)["text"]);
    }
    expect(called).toEqual(new Set(LISTED.map((name) => `dots: ${name} was called`)));
  } finally {
    await client.close();
  }
}

describe.each(["legacy", "modern"] as const)("MCP on HTTP, %s", (era) => {
  const open = (url: string, headers = {}): Promise<RawClient> =>
    RawClient.open(new HttpWire(url, era, { ...HEADERS, ...headers }), { era });

  test("lists names as MCP allows them unless the client requests another form", async () => {
    await expectNames(await open(`${yard.url}/mcp`), false);
  });

  test.each([
    ["?tool_names=model", {}, true],
    ["", { "x-mcp-tool-names": "model" }, true],
    ["?tool_names=model", { "x-mcp-tool-names": "mcp" }, false],
    ["?tool_names=dots", {}, false],
  ])("with the query %j and the headers %j, lists names without a dot: %j", async (query, headers, isSafe) => {
    await expectNames(await open(`${yard.url}/mcp${query}`, headers), isSafe);
  });

  test("`tool_names` of the endpoint applies to clients that request no form", async () => {
    await expectNames(await open(`${dotless.address.url}/mcp`), true);
    await expectNames(await open(`${dotless.address.url}/mcp?tool_names=mcp`), false);
  });
});

test("MCP on HTTP+SSE lists names in the form that its URL requests", async () => {
  const open = (query: string): Promise<RawClient> =>
    RawClient.open(new SseWire(`${dotless.address.url}/sse${query}`), { era: "legacy" });
  const [safe, dotted] = [await open(""), await open("?tool_names=mcp")];
  expect((await listed(safe)).every((name) => SAFE.test(name))).toBe(true);
  expect(await listed(dotted)).toContain("dots__say.here");
  await Promise.all([safe.close(), dotted.close()]);
});

describe.each(["legacy", "modern"] as const)("MCP on stdio, %s", (era) => {
  test("lists names in the form of `tool_names`", async () => {
    await expectNames(await RawClient.open(new HubPipe(yard.hub, { tool_names: "model" }), { era }), true);
    await expectNames(await RawClient.open(new HubPipe(yard.hub), { era }), false);
  });
});

describe("REST", () => {
  const get = async (path: string): Promise<JsonObject> =>
    (await (await fetch(`${yard.url}${path}`, { headers: HEADERS })).json()) as JsonObject;
  const namesOf = (list: JsonObject): readonly string[] =>
    listMember(list, "tools").map((tool) => String((tool as JsonObject)["name"]));

  test("lists names without a dot unless a request or the configuration selects another form", async () => {
    const own = (names: readonly string[]): readonly string[] => names.filter((name) => name.startsWith("dots__"));
    const safe = own(namesOf(await get("/api/tools")));
    expect(safe).toHaveLength(LISTED.length);
    expect(safe.filter((name) => !SAFE.test(name))).toEqual([]);
    expect(own(namesOf(await get("/api/tools?tool_names=mcp")))).toContain("dots__say.here");
    expect(namesOf(await get("/api/tools?query=say.here"))[0]).toMatch(SAFE);
    expect((await get("/api/tools/dots__a.b.c"))["name"]).toBe("dots__a_b_c");
    expect((await get("/api/tools/dots__a_b_c?tool_names=mcp"))["name"]).toBe("dots__a.b.c");
  });

  test("calls a tool by each of its names", async () => {
    for (const name of ["dots__a.b.c", "dots__a_b_c"]) {
      const answer = await fetch(`${yard.url}/api/tools/${name}`, { method: "POST", headers: HEADERS });
      expect(await answer.json()).toBe("dots: a.b.c was called");
    }
  });

  test("has names without a dot in paths and operations of `/openapi.json`", async () => {
    const paths = objectMember(await get("/openapi.json"), "paths")!;
    const own = Object.entries(paths).filter(([path]) => path.startsWith("/api/tools/dots__"));
    expect(own).toHaveLength(LISTED.length);
    for (const [path, item] of own) {
      expect(path.slice("/api/tools/".length)).toMatch(SAFE);
      const post = isJsonObject(item) ? objectMember(item, "post") : undefined;
      expect(post?.["operationId"]).toMatch(/^[A-Za-z0-9_-]+$/);
    }
  });
});

test("the vendors' formats have names without a dot for any form of the listed names", async () => {
  const { entries } = await yard.hub.port.list("tools", {
    mode: "all",
    principal: { id: "local", rights: "everything" },
  });
  const names = [
    ...toOpenAITools(entries).map((tool) => tool.function.name),
    ...toMistralTools(entries).map((tool) => tool.function.name),
    ...toAnthropicTools(entries).map((tool) => tool.name),
    ...toGoogleTools(entries).flatMap(({ functionDeclarations }) => functionDeclarations.map((tool) => tool.name)),
  ];
  expect(names.filter((name) => !SAFE.test(name))).toEqual([]);
});
