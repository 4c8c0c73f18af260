// Methods of extensions: a hub with one source passes them on; a hub with several declares only those that it serves
// itself.
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { initialize, JSON_HEADERS, openTarget, openUpstream, tool, type Target, type Upstream } from "./attack.ts";

const SKILLS = "io.modelcontextprotocol/skills";
const UI = "io.modelcontextprotocol/ui";
const TASKS = "io.modelcontextprotocol/tasks";

/** Extensions of the hub itself. */
function ownExtensions(era: "legacy" | "modern"): JsonObject {
  return era === "modern" ? { [TASKS]: {} } : {};
}

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function skillServer(extensions: JsonObject = { [SKILLS]: { directoryRead: true } }): Promise<Upstream> {
  const answers: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
    "skills/list": () => ({ result: { skills: [{ name: "pdf", uri: "skill://pdf" }], nextCursor: "2" } }),
    "skills/get": ({ uri, name, arguments: given }) => ({ result: { skill: { uri, name, given } } }),
    "resources/directory/read": () => ({ error: { code: -32002, message: "No such directory", data: { at: 1 } } }),
  };
  const upstream = await openUpstream({
    capabilities: { tools: {}, extensions },
    tools: [tool("plain")],
    answer: (method, params) => answers[method]?.(params),
  });
  opened.push({ [Symbol.asyncDispose]: () => upstream.close() });
  return upstream;
}

async function hubOver(servers: Readonly<Record<string, Upstream>>): Promise<Target> {
  const target = await openTarget({
    server: { tokens: { owner: { token: "owner-1" }, guest: { token: "guest-2", allow: ["*"] } } },
    mcp: { remote_servers: Object.entries(servers).map(([namespace, { url }]) => ({ namespace, url })) },
  } as never);
  opened.push(target);
  return target;
}

/** Returns the capabilities that the hub declares to a new client. */
async function declared(target: Target, era: "legacy" | "modern", token = "owner-1"): Promise<JsonObject> {
  if (era === "modern") {
    const client = await target.client(token, { era });
    return (await client.result("server/discover"))["capabilities"] as JsonObject;
  }
  const headers = { ...JSON_HEADERS, authorization: `Bearer ${token}` };
  const { body } = await target.send({ headers, body: initialize() });
  const reply = JSON.parse(/\{"jsonrpc".*\}/.exec(body)![0]) as { result: { capabilities: JsonObject } };
  return reply.result.capabilities;
}

describe.each(["legacy", "modern"] as const)("a %s client of a hub with one source", (era) => {
  test("receives the extension of its server, which answers the extension's methods", async () => {
    const server = await skillServer();
    const target = await hubOver({ one: server });
    expect((await declared(target, era))["extensions"]).toEqual({
      ...ownExtensions(era),
      [SKILLS]: { directoryRead: true },
    });
    const client = await target.client("owner-1", { era });
    expect(await client.result("skills/list", { cursor: "1" })).toMatchObject({
      skills: [{ name: "pdf", uri: "skill://pdf" }],
      nextCursor: "2",
    });
    const params = { uri: "skill://pdf", name: "pdf", arguments: { a: 1 } };
    expect(await client.result("skills/get", params)).toMatchObject({
      skill: { uri: "skill://pdf", name: "pdf", given: { a: 1 } },
    });
    expect(server.received.find(({ method }) => method === "skills/list")!.params["cursor"]).toBe("1");
  });

  test("gets the server's own error for a method of an extension", async () => {
    const client = await (await hubOver({ one: await skillServer() })).client("owner-1", { era });
    const { error } = await client.request("resources/directory/read", { uri: "skill://x" });
    expect(error).toMatchObject({ message: "No such directory", data: { at: 1 } });
    expect((await client.request("skills/unheard-of"))["error"]).toMatchObject({ code: -32601 });
  });

  test("with narrow rights, receives no extension with methods, and no answers to these methods", async () => {
    const server = await skillServer({ [SKILLS]: {}, [UI]: { a: 1 } });
    const target = await hubOver({ one: server });
    expect((await declared(target, era, "guest-2"))["extensions"]).toEqual({ ...ownExtensions(era), [UI]: { a: 1 } });
    const client = await target.client("guest-2", { era });
    expect((await client.request("skills/list"))["error"]).toMatchObject({ code: -32601 });
    expect(server.received.map(({ method }) => method)).not.toContain("skills/list");
  });

  test("has the hub's tasks, not those of its server", async () => {
    const server = await skillServer({ [TASKS]: {} });
    const client = await (await hubOver({ one: server })).client("owner-1", { era });
    const { error } = await client.request("tasks/get", { taskId: "x" });
    expect(error).toMatchObject({ code: era === "modern" ? -32021 : -32602 });
    expect(server.received.map(({ method: asked }) => asked)).not.toContain("tasks/get");
  });

  test("lists the caller's own tasks, and not those of its server", async () => {
    const server = await skillServer({ [TASKS]: {} });
    const client = await (await hubOver({ one: server })).client("owner-1", { era });
    const { result, error } = await client.request("tasks/list");
    expect(result ?? error).toMatchObject(era === "modern" ? { code: -32601 } : { tasks: [] });
    expect(server.received.map(({ method: asked }) => asked)).not.toContain("tasks/list");
  });

  test.each(["tasks/unknown", "tools/unknown", "x/y"])(
    "does not pass the method %s to a server without extensions",
    async (method) => {
      const server = await skillServer({ [TASKS]: {} });
      const client = await (await hubOver({ one: server })).client("owner-1", { era });
      expect((await client.request(method))["error"]).toMatchObject({ code: -32601 });
      expect(server.received.map(({ method: asked }) => asked)).not.toContain(method);
    },
  );
});

test.each(["legacy", "modern"] as const)(
  "a hub with several sources declares only the extensions that it serves itself (%s)",
  async (era) => {
    const servers = { one: await skillServer({ [SKILLS]: {}, [UI]: {} }), two: await skillServer({ "x/own": {} }) };
    const target = await hubOver(servers);
    expect((await declared(target, era))["extensions"]).toEqual({ ...ownExtensions(era), [UI]: {} });
    const client = await target.client("owner-1", { era });
    expect((await client.request("skills/list"))["error"]).toMatchObject({ code: -32601 });
  },
);
