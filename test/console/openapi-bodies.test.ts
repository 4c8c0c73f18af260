// The schemas of the administration API in the OpenAPI document, against the bodies of a real hub: each operation is
// called, and its request and its answer must match the document without undeclared members.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { compileSchema } from "../../packages/toolyard/src/schema/compile.ts";
import { startModels, type ModelStandIn } from "../agent/stand-in.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import type { LegacyServer } from "../fixtures/http-servers.ts";
import { ServeChild } from "../support/serve-child.ts";

const fileHere = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const SERVER = ["node", fileHere("content-server.mjs"), "1"];
const HEADERS = { authorization: "Bearer t-ops", "content-type": "application/json" };
const WAIT = { timeout: 20_000 };

interface Exchange {
  /** Method, and path below `/api/admin` with `*` for each name. */
  readonly key: string;
  readonly body: JsonObject | undefined;
  readonly status: number;
  readonly answer: JsonObject;
}
interface Call {
  readonly names?: readonly unknown[];
  readonly query?: string;
  readonly body?: JsonObject;
}
/** Schemas of one operation in the document. */
interface BodySchemas {
  readonly body?: JsonObject;
  readonly answer?: JsonObject;
}

let [auth, models, server, hub] = [] as unknown as [AuthServer, ModelStandIn, LegacyServer, ServeChild];
let document: JsonObject;
const described = new Map<string, BodySchemas>();
const made: Exchange[] = [];

const rootOf = (): string => hub.url.replace(/\/mcp$/, "");

async function request(key: string, { names = [], query = "", body }: Call = {}): Promise<Response> {
  const [method, path] = key.split(" ") as [string, string];
  const left = names.map((name) => encodeURIComponent(String(name)));
  const below = path === "" ? "" : `/${path.replaceAll("*", () => left.shift()!)}`;
  const init = { method, headers: HEADERS, ...(body && { body: JSON.stringify(body) }) };
  return fetch(`${rootOf()}/api/admin${below}${query}`, init);
}

/** Calls an operation and records the bodies. */
async function run(key: string, call: Call = {}): Promise<JsonObject> {
  const response = await request(key, call);
  const answer = (await response.json()) as JsonObject;
  made.push({ key, body: call.body, status: response.status, answer });
  return answer;
}

const rows = (answer: JsonObject, name: string): readonly JsonObject[] => answer[name] as readonly JsonObject[];
const rowOf = (answer: JsonObject, name: string, id: string): JsonObject | undefined =>
  rows(answer, name).find((row) => row["id"] === id || row["source"] === id || row["path"] === id);

/** Returns a schema that refuses members without a description in the document. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isJsonObject(schema)) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return isJsonObject(schema["properties"]) && schema["type"] === "object"
    ? { ...members, additionalProperties: false }
    : members;
}

function faultsOf(schema: JsonObject, value: unknown): string | undefined {
  const compiled = compileSchema({
    ...(closed(schema) as JsonObject),
    components: closed(document["components"]),
  });
  expect(compiled).toMatchObject({ usable: true });
  const result = compiled.check(value);
  return result.ok ? undefined : result.message;
}

function schemaIn(part: unknown): JsonObject | undefined {
  const { content } = (part ?? {}) as { content?: { "application/json"?: { schema: JsonObject } } };
  return content?.["application/json"]?.schema;
}

async function readDocument(): Promise<void> {
  document = (await (await fetch(`${rootOf()}/openapi.json`, { headers: HEADERS })).json()) as JsonObject;
  for (const [path, operations] of Object.entries(document["paths"] as Record<string, JsonObject>)) {
    if (!path.startsWith("/api/admin")) continue;
    const below = path.slice("/api/admin/".length).replaceAll(/\{\w+\}/g, "*");
    for (const [method, operation] of Object.entries(operations) as [string, JsonObject][]) {
      const answer = schemaIn((operation["responses"] as JsonObject)["200"]);
      const body = schemaIn(operation["requestBody"]);
      described.set(`${method.toUpperCase()} ${below}`, { ...(body && { body }), ...(answer && { answer }) });
    }
  }
}

beforeAll(async () => {
  [auth, models] = [await startAuthServer({ host: "localhost" }), await startModels()];
  server = await startProtected(auth);
  const app = ["node", fileHere("app-server.mjs"), "http://127.0.0.1:9", "http://127.0.0.1:10"];
  hub = await ServeChild.start({
    config: {
      auth: { modes: ["builtin", "tokens"], builtin: {} },
      server: { tokens: { ops: { token: "t-ops" } } },
      console: { admins: ["token:ops"] },
      audit: { file: "audit.jsonl" },
      modules: { paths: [fileHere("task-tools.mjs")] },
      models: { ...models.models, language: "openai-chat/gpt-x" },
      profiles: { small: { title: "Small", tools: ["hold"] } },
      schedules: {
        night: { cron: "0 3 1 1 *", tool: "hold", arguments: { name: "night" } },
        bad: { cron: "0 3 1 1 *", tool: "broken" },
      },
      mcp: {
        remote_servers: [{ alias: "shared", url: server.url }],
        stdio_servers: { content: { command: SERVER, pins: { bump: "" } }, app: { command: app } },
      },
    } as never,
    args: ["-y"],
  });
  await readDocument();
}, 60_000);
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await Promise.all([models.close(), auth.stop()]);
});

async function callHub(): Promise<void> {
  for (const key of ["GET ", "GET session", "POST links", "GET overview", "GET hubs", "GET settings/schema"])
    await run(key);
  await expect.poll(async () => (await run("GET tools/*", { names: ["app__show"] }))["name"], WAIT).toBe("app__show");
  await run("POST tools/*", { names: ["release"], body: { name: "nobody" } });
  for (const key of ["GET tools", "GET resources", "GET logs", "GET calls", "GET calls/stored", "GET callers"])
    await run(key);
  await run("GET tools", { query: "?query=hold" });
  await run("GET profiles");
  await run("GET profiles/*", { names: ["small"] });
  await run("POST apps", { body: { tool: "app__show" } });
  await run("GET code/tools");
  models.say([{ text: "Sunny." }]);
  const { history } = await run("POST chat", { body: { message: "Weather?" } });
  models.say([{ text: "Again." }]);
  await run("POST chat", { body: { message: "And now?", history } });
}

async function callContents(): Promise<void> {
  await run("POST resources/read", { body: { uri: "demo://counter" } });
  const { name } = rows(await run("GET prompts"), "prompts")[0]!;
  await run("POST prompts/*", { names: [name], body: { city: "Graz" } });
  const ref = { type: "ref/prompt", name };
  await run("POST complete", { body: { ref, argument: { name: "city", value: "G" } } });
}

async function callSources(): Promise<void> {
  await run("GET sources");
  await run("POST sources", { body: { name: "extra", command: SERVER, env: { COUNT: "1" } } });
  for (const action of ["restart", "refresh", "disable", "enable"])
    await run(`POST sources/*/${action}`, {
      names: [action === "restart" || action === "refresh" ? "content" : "extra"],
    });
  const { entry, digest } = await run("GET sources/*", { names: ["extra"] });
  await run("PUT sources/*", { names: ["extra"], body: { entry: { ...(entry as JsonObject), cwd: "." }, digest } });
  await run("DELETE sources/*", { names: ["extra"] });
}

async function callSettings(): Promise<void> {
  const read = async (): Promise<JsonObject> => rows(await run("GET settings"), "files")[0]!;
  const { path: file, text, digest } = await read();
  await run("POST settings/check", { body: { file, text: "[server" } });
  const edit = { file, text, path: ["logging", "level"], value: "debug" };
  const edited = await run("POST settings/edit", { body: edit });
  await run("POST settings/check", { body: { file, ...edited } });
  await run("PUT settings", { body: { file, ...edited, digest } });
  const saved = await read();
  const query = `?file=${encodeURIComponent(String(file))}`;
  await run("GET settings/versions/*", { names: [rows(saved, "versions")[0]!["id"]], query });
  await run("POST settings/undo", { body: { file, digest: saved["digest"] } });
}

async function callAccess(): Promise<void> {
  const isSignedIn = async (): Promise<unknown> =>
    rowOf(await run("GET sign-ins"), "signIns", "shared")?.["isSignedIn"];
  await expect.poll(isSignedIn, WAIT).toBe(false);
  const begun = await request("POST sign-ins/*", { names: ["shared"] });
  const answer = (await begun.json()) as { location: string };
  made.push({ key: "POST sign-ins/*", body: undefined, status: begun.status, answer: { ...answer } });
  const back = (await fetch(answer.location, { redirect: "manual" })).headers.get("location")!;
  await fetch(back, {
    headers: {
      cookie: begun.headers
        .getSetCookie()
        .map((one) => one.split(";")[0])
        .join("; "),
    },
  });
  await expect.poll(isSignedIn, WAIT).toBe(true);
  await run("DELETE sign-ins/*", { names: ["shared"] });
  let digest: unknown;
  const isWaiting = async (): Promise<unknown> =>
    (digest = rowOf(await run("GET approvals"), "approvals", "content")?.["digest"]);
  await expect.poll(isWaiting, WAIT).toBeDefined();
  await run("POST approvals/*/*", { names: ["content", "bump"], body: { digest } as JsonObject });
}

async function callUsers(): Promise<void> {
  await run("POST users", { body: { name: "Ann", groups: ["dev"] } });
  await run("POST users/*/password", { names: ["Ann"], body: { password: "correct horse battery staple" } });
  await run("POST users/*/password", { names: ["Ann"] });
  const metadata = {
    client_name: "Test",
    redirect_uris: ["http://127.0.0.1:9/back"],
    token_endpoint_auth_method: "none",
  };
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(metadata) };
  const { client_id } = (await (await fetch(`${rootOf()}/register`, init)).json()) as { client_id: string };
  await run("GET users");
  await run("POST users/*/sign-out", { names: ["Ann"] });
  await run("DELETE users/*", { names: ["Ann"] });
  await run("DELETE clients/*", { names: [client_id] });
}

async function callTasks(): Promise<void> {
  const { id } = await run("POST tasks", { body: { tool: "order", arguments: {} } });
  let keys: readonly string[] = [];
  const isAsking = async (): Promise<unknown> => {
    const task = await run("GET tasks/*", { names: [id] });
    keys = Object.keys(task["inputRequests"] ?? {});
    return task["status"];
  };
  await expect.poll(isAsking, WAIT).toBe("input_required");
  const accept = { action: "accept", content: { dish: "soup" } };
  await run("POST tasks/*/input", { names: [id], body: { [keys[0]!]: accept } });
  await expect.poll(isAsking, WAIT).toBe("completed");
  const held = await run("POST tasks", { body: { tool: "hold", arguments: { name: "x" } } });
  await run("DELETE tasks/*", { names: [held["id"]] });
  await run("GET tasks");
  await run("POST schedules/*", { names: ["bad"] });
  await run("POST schedules/*", { names: ["night"] });
  const lastRun = async (): Promise<unknown> =>
    rows(await run("GET schedules/*", { names: ["bad"] }), "runs")[0]?.["status"];
  await expect.poll(lastRun, WAIT).toMatch(/failed|completed/);
  await run("DELETE schedules/*", { names: ["night"] });
  await run("GET schedules");
}

const LEAVES_STREAM = "GET events";

test("each operation accepts a body of the documented schema, and answers as its schema declares", async () => {
  for (const calls of [callHub, callContents, callSources, callSettings, callAccess, callUsers, callTasks])
    await calls();
  const succeeded = made.filter(({ status }) => status === 200);
  expect(made.filter(({ key, status }) => status !== 200 && key !== "GET tools/*")).toEqual([]);
  const called = new Set(succeeded.map(({ key }) => key));
  const missing = [...described.keys()].filter((key) => key !== LEAVES_STREAM && !called.has(key));
  expect([missing, [...called].filter((key) => !described.has(key))]).toEqual([[], []]);
  const faults = succeeded.flatMap(({ key, body, answer }) => {
    const { body: bodySchema, answer: answerSchema } = described.get(key)!;
    expect([key, answerSchema]).toEqual([key, expect.any(Object)]);
    if (body) expect([key, bodySchema]).toEqual([key, expect.any(Object)]);
    const bodyFault = body && faultsOf(bodySchema!, body);
    return [bodyFault && `${key} body: ${bodyFault}`, `${key}: ${faultsOf(answerSchema!, answer) ?? ""}`];
  });
  expect([...new Set(faults)].filter((fault) => fault !== undefined && !fault.endsWith(": "))).toEqual([]);
}, 120_000);

test("each operation with required members refuses a body without them, as its schema does", async () => {
  const withBody = [...described].filter(([, { body }]) => body && faultsOf(body, {}) !== undefined);
  expect(withBody.length).toBeGreaterThanOrEqual(12);
  for (const [key] of withBody) {
    const names = key.startsWith("POST approvals") ? ["content", "bump"] : ["content"];
    const response = await request(key, { names, body: {} });
    expect([key, response.status >= 400 && response.status < 500], await response.text()).toEqual([key, true]);
  }
});

test("documents events where the answer may be a stream, and no body where none is read", async () => {
  const paths = document["paths"] as Record<string, Record<string, JsonObject>>;
  const contentOf = (path: string, method: string): string[] => {
    const { content } = (paths[path]![method]!["responses"] as Record<string, { content: object }>)["200"]!;
    return Object.keys(content);
  };
  expect(contentOf("/api/admin/events", "get")).toEqual(["text/event-stream"]);
  for (const path of ["tools/{name}", "chat", "complete", "resources/read", "prompts/{name}"])
    expect(contentOf(`/api/admin/${path}`, "post")).toEqual(["application/json", "text/event-stream"]);
  expect(contentOf("/api/admin/overview", "get")).toEqual(["application/json"]);
  for (const path of ["links", "sources/{name}/restart", "users/{name}/sign-out"])
    expect(paths[`/api/admin/${path}`]!["post"]).not.toHaveProperty("requestBody");
  expect(paths["/api/admin/sources"]!["post"]).toMatchObject({ requestBody: { required: true } });
  expect(paths["/api/admin/users/{name}/password"]!["post"]).toMatchObject({ requestBody: { required: false } });
  const { schemas } = document["components"] as { schemas: JsonObject };
  expect(schemas["admin.UserRow"]).toMatchObject({
    properties: { sub: { type: "string", description: "Subject of the user's tokens." } },
  });
});
