// Tools that a server accepts but does not list, on every surface.
import { afterAll, beforeAll, expect, test } from "vitest";
import { NAMED_SERVER, NameYard } from "./name-yard.ts";
import { FULL } from "./served-yard.ts";
import { SURFACES } from "./surfaces.ts";
import { toolyardOf } from "../../packages/toolyard/src/kernel/toolyard.ts";

let yard: NameYard;

beforeAll(async () => {
  yard = await NameYard.open({
    open: { command: [...NAMED_SERVER, "open", "shown"], unlisted: true, exclude: ["secret*"] },
    closed: { command: [...NAMED_SERVER, "closed", "shown"] },
  });
}, 60_000);
afterAll(() => yard[Symbol.asyncDispose]());

// The manager calls only tools in its registry.
const { manager: _manager, ...surfaces } = SURFACES;

for (const [name, { open }] of Object.entries(surfaces)) {
  test(`${name}: calls an unlisted tool if its source allows it, and refuses it otherwise`, async () => {
    const surface = await open(yard, FULL);
    try {
      expect(await surface.call("open__hidden", { a: 1 })).toEqual({ value: "open: hidden was called" });
      for (const tool of ["closed__hidden", "open__secret_key"])
        expect("failure" in (await surface.call(tool, {})), tool).toBe(true);
    } finally {
      await surface.close();
    }
  }, 60_000);
}

test("the error for an unlisted tool names `unlisted` if that option would help", async () => {
  const toolyard = toolyardOf(yard.hub, { endpoint: "test" });
  const hint = "The server closed does not list it. If it accepts tools that it does not list, set `unlisted = true`";
  const told = async (tool: string, args = {}): Promise<string> => JSON.stringify(await toolyard.call(tool, args));
  expect(await told("closed__hidden")).toContain(hint);
  expect(await told("execute_tool", { name: "closed::hidden" })).toContain(hint);
  expect(await told("hidden")).not.toContain("unlisted");
  expect(await told("open__secret_key")).toContain("`include` and `exclude` of the source open leave it out");
});

test("code calls an unlisted tool by its path", async () => {
  const toolyard = toolyardOf(yard.hub, { endpoint: "test" });
  const outcome = await toolyard.call("execute_code", {
    language: "python",
    code: "[tools.open.hidden().result(), tools['open__other'](a=1).result()]",
  });
  expect(outcome).toMatchObject({
    ok: true,
    result: { structuredContent: { result: ["open: hidden was called", "open: other was called"] } },
  });
}, 60_000);

test("REST describes an unlisted tool without a schema", async () => {
  const answer = await fetch(`${yard.url}/api/tools/open__hidden`, { headers: { authorization: `Bearer ${FULL}` } });
  expect(await answer.json()).toMatchObject({ name: "open__hidden", inputSchema: { type: "object" } });
});
