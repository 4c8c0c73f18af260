// The administration API in the OpenAPI document of the hub.
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { ServeChild } from "../support/serve-child.ts";

const TOKENS = { ops: { token: "t-ops" }, one: { token: "t-one", allow: ["execute_code"] } };
type Paths = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

let hub: ServeChild;
beforeAll(async () => {
  hub = await ServeChild.start({
    config: { server: { tokens: TOKENS }, profiles: { small: { tools: ["execute_code"] } } },
    args: ["--base-path", "/yard"],
  });
}, 60_000);
afterAll(() => hub[Symbol.asyncDispose]());

async function documentOf(token: string | undefined, { url }: { readonly url: string } = hub): Promise<JsonObject> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await (await fetch(url.replace(/\/mcp$/, "/openapi.json"), { headers })).json()) as JsonObject;
}

const adminPaths = ({ paths }: JsonObject): readonly string[] =>
  Object.keys(paths as object).filter((path) => path.startsWith("/api/admin"));

test("describes every operation that the API lists, in a valid document with its security schemes", async () => {
  const document = await documentOf("t-ops");
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect([valid, errors]).toEqual([true, undefined]);
  const headers = { authorization: "Bearer t-ops" };
  const listed = (await (await fetch(hub.url.replace(/\/mcp$/, "/api/admin"), { headers })).json()) as {
    routes: readonly { method: string; path: string; summary: string }[];
  };
  expect(listed.routes.length).toBeGreaterThan(30);
  const paths = document["paths"] as Paths;
  for (const { method, path, summary } of listed.routes) {
    let count = 0;
    const named = `/api/admin/${path.replaceAll("*", () => `{name${(count += 1) === 1 ? "" : count}}`)}`;
    expect(paths[named]?.[method.toLowerCase()], `${method} ${path}`).toMatchObject({ summary, tags: ["admin"] });
  }
  for (const path of ["/api/admin", "/api/admin/session", "/api/admin/events"])
    expect(paths[path]).toHaveProperty("get");
  expect(document["security"]).toEqual([{ token: [] }]);
  expect(paths["/api/admin/settings"]!["put"]).toMatchObject({ responses: { "401": {}, "403": {} } });
});

test("every operation without parameters that only reads answers at the described address", async () => {
  const document = await documentOf("t-ops");
  const [{ url }] = document["servers"] as [{ url: string }];
  const headers = { authorization: "Bearer t-ops" };
  const plain = adminPaths(document).filter(
    (path) => !/[{]|events/.test(path) && (document["paths"] as Paths)[path]!["get"],
  );
  expect(plain.length).toBeGreaterThan(10);
  for (const path of plain) expect((await fetch(`${url}${path}`, { headers })).status, path).toBe(200);
});

test("describes only the permitted operations to a caller with narrowed rights", async () => {
  const [all, one] = [adminPaths(await documentOf("t-ops")), adminPaths(await documentOf("t-one"))];
  expect(one).toEqual(all.filter((path) => one.includes(path)));
  expect(one).toContain("/api/admin/tools");
  for (const path of ["/api/admin/settings", "/api/admin/overview", "/api/admin/sources"])
    expect(one).not.toContain(path);
});

test("describes no operation of the API for a profile, and at an address without the console", async () => {
  expect(adminPaths(await documentOf("t-ops", { url: hub.url.replace(/\/mcp$/, "/mcp/small/mcp") }))).toEqual([]);
  await using off = await ServeChild.start({ config: { console: { enabled: false } } });
  expect(adminPaths(await documentOf(undefined, off))).toEqual([]);
  await using remote = await ServeChild.start({ config: {}, args: ["--host", "0.0.0.0", "--insecure"] });
  expect(adminPaths(await documentOf(undefined, { url: remote.url.replace("0.0.0.0", "127.0.0.1") }))).toEqual([]);
});

test("describes the API without a security scheme on an open hub", async () => {
  await using open = await ServeChild.start({ config: {} });
  const document = await documentOf(undefined, open);
  expect(adminPaths(document)).toContain("/api/admin/settings");
  expect(document["security"]).toBeUndefined();
});
