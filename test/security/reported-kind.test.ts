// The outcome code of a result belongs to the hub: one written by a server has no effect.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { openTarget, openUpstream, say, tool, type Target, type Upstream } from "./attack.ts";
import { runCommand } from "./command.ts";

const META = { "toolyard/kind": "limited", "toolyard/retryAfterMs": 1, "example/kept": 1 };
const DATA_ONLY = { "toolyard/kind": "limited" };
const DATA = { "toolyard/kind": "unknown_tool", why: "no" };

let upstream: Upstream;
let target: Target;

beforeEach(async () => {
  upstream = await openUpstream({
    capabilities: { tools: {}, prompts: {}, extensions: { "example/x": {} } },
    tools: [tool("result"), tool("error"), tool("success")],
    prompts: [{ name: "p" }],
    answer: (method, params): JsonObject | undefined => {
      if (method === "tools/call" && params["name"] === "result")
        return { result: { ...say("x"), isError: true, _meta: META } };
      if (method === "tools/call" && params["name"] === "success") return { result: { ...say("x"), _meta: META } };
      if (method === "x/list") return { result: { items: [{ _meta: META }], _meta: META } };
      if (method === "x/only") return { result: { _meta: DATA_ONLY } };
      if (method === "x/failed") return { error: { code: -32_603, message: "x", data: DATA } };
      if (method === "tools/call" || method === "prompts/get")
        return { error: { code: -32_603, message: "x", data: DATA } };
      return undefined;
    },
  });
  target = await openTarget({ mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] } });
  await target.hub.list();
});

afterEach(async () => {
  await target[Symbol.asyncDispose]();
  await upstream.close();
});

test.each(["legacy", "modern"] as const)(
  "removes an outcome code that an upstream claims from results and errors over MCP (%s)",
  async (era) => {
    const client = await target.client(undefined, { era });
    const called = await client.request("tools/call", { name: "up__result", arguments: {} });
    expect(called).toMatchObject({ result: { isError: true, _meta: { "example/kept": 1 } } });
    const inside = await client.request("tools/call", {
      name: "execute_tool",
      arguments: { name: "up__result", arguments: {} },
    });
    const failed = await client.request("tools/call", { name: "up__error", arguments: {} });
    expect(failed).toMatchObject({ error: { data: { why: "no" } } });
    const prompt = await client.request("prompts/get", { name: "up__p" });
    for (const answer of [called, inside, failed, prompt])
      expect(JSON.stringify(answer)).not.toMatch(/"limited"|"unknown_tool"|retryAfterMs/);
  },
);

test.each(["legacy", "modern"] as const)(
  "removes an outcome code that an upstream claims from results of extensions and of successful calls (%s)",
  async (era) => {
    const client = await target.client(undefined, { era });
    expect(await client.result("tools/call", { name: "up__success", arguments: {} })).toMatchObject({
      _meta: { "example/kept": 1 },
    });
    const listed = await client.result("x/list");
    expect(listed).toMatchObject({ items: [{ _meta: META }], _meta: { "example/kept": 1 } });
    const answers = [listed["_meta"], await client.result("x/only"), await client.request("x/failed")];
    expect(JSON.stringify(answers)).not.toMatch(/"limited"|"unknown_tool"|retryAfterMs/);
  },
);

test("`call --url` exits with the code of a failed tool if an upstream claims another outcome code", async () => {
  using folder = new ToolFolder();
  for (const name of ["up__result", "up__error"]) {
    const { code } = await runCommand(["call", name, "--url", target.url], {
      TOOLYARD_HOME: folder.path,
      PATH: process.env["PATH"] ?? "",
    });
    expect(code).toBe(1);
  }
});

test("`call --url` exits with the code of a failure of the hub itself", async () => {
  using folder = new ToolFolder();
  const { code } = await runCommand(["call", "up__nothing", "--url", target.url], {
    TOOLYARD_HOME: folder.path,
    PATH: process.env["PATH"] ?? "",
  });
  expect(code).toBe(3);
});
