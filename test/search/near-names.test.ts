// Similar tools that the whole hub names after a failed call through execute_tool.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { openTarget, openUpstream, tool, type Target, type Upstream } from "../security/attack.ts";

const TOKENS = { owner: { token: "owner-token-1" }, guest: { token: "guest-token-2", allow: ["rows__*"] } };
const FAILED = { content: [{ type: "text", text: '{"code":5}' }], structuredContent: { code: 5 }, isError: true };

let rows: Upstream;
let vault: Upstream;
let target: Target;

beforeAll(async () => {
  const answer = (method: string): JsonObject | undefined => (method === "tools/call" ? { result: FAILED } : undefined);
  rows = await openUpstream({
    tools: [
      tool("delete_rows", { description: "Deletes rows of a table." }),
      tool("delete_table", { description: "Deletes a table with all its rows." }),
      tool("send_email", { description: "Sends an email." }),
    ],
    answer,
  });
  vault = await openUpstream({
    tools: [tool("delete_rows_for_good", { description: "Deletes rows of a table for good." })],
    answer,
  });
  target = await openTarget({
    server: { tokens: TOKENS },
    mcp: {
      remote_servers: [
        { namespace: "rows", url: rows.url },
        { namespace: "vault", url: vault.url },
      ],
    },
  });
  await target.hub.list();
  await target.hub.search("delete rows");
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await Promise.all([rows.close(), vault.close()]);
});

async function failing(token: string, name: string): Promise<JsonObject> {
  const client = await target.client(token);
  return client.tool("execute_tool", { name, arguments: {} });
}

test("keeps a tool's own error unchanged, and appends a text that names similar tools", async () => {
  const { content, ...others } = await failing(TOKENS.owner.token, "rows__delete_rows");
  const [own, near, ...more] = content as { text: string }[];
  expect(others).toMatchObject({ structuredContent: { code: 5 }, isError: true });
  expect(own).toEqual(FAILED.content[0]);
  expect(near!.text).toMatch(/^Similar tools: /);
  expect(near!.text).toContain("rows__delete_table");
  expect(near!.text).toContain("vault__delete_rows_for_good");
  expect(near!.text).not.toContain("rows__delete_rows,");
  expect(more).toEqual([]);
});

test("S15: names to a guest only tools that it may see", async () => {
  const text = JSON.stringify(await failing(TOKENS.guest.token, "rows__delete_rows"));
  expect(text).toContain("Similar tools: rows__delete_table");
  expect(text).not.toContain("vault");
});

test("adds no names of similar tools to a call that is not made by execute_tool", async () => {
  const client = await target.client(TOKENS.owner.token);
  expect((await client.tool("rows__delete_rows")).content).toEqual(FAILED.content);
});
