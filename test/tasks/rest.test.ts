import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { notificationsOf, TaskHub } from "./task-hub.ts";

const LONG = { timeout: 60_000 };
const ASYNC = { prefer: "respond-async" };

interface RestReply {
  readonly status: number;
  readonly location: string;
  readonly body: JsonObject;
}

async function send(hub: TaskHub, path: string, init: RequestInit & { json?: unknown } = {}): Promise<RestReply> {
  const url = path.startsWith("http") ? path : new URL(path, hub.url).href;
  const { json, ...rest } = init;
  const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
  const headers = { ...(json !== undefined && { "content-type": "application/json" }), ...init.headers };
  const response = await fetch(url, { ...rest, ...body, headers });
  const text = await response.text();
  return {
    status: response.status,
    location: response.headers.get("location") ?? "",
    body: JSON.parse(text) as JsonObject,
  };
}

function start(hub: TaskHub, tool: string, args: JsonObject = {}): Promise<RestReply> {
  return send(hub, `/api/tools/${tool}`, { json: args, headers: ASYNC });
}

async function status(hub: TaskHub, location: string): Promise<unknown> {
  return (await send(hub, location)).body["status"];
}

test("`Prefer: respond-async` answers 202 with the address of a task that ends with the value", LONG, async () => {
  await using hub = await TaskHub.start("");
  const { status: code, location, body } = await start(hub, "wait_for_file");
  expect([code, body["status"]]).toEqual([202, "working"]);
  expect(location).toBe(new URL(`/api/tasks/${String(body["id"])}`, hub.url).href);
  await expect.poll(async () => (await send(hub, location)).body["statusMessage"]).toBe("waiting for go");
  await hub.desk.write("go", "");
  await expect.poll(() => status(hub, location)).toBe("completed");
  expect((await send(hub, location)).body).toMatchObject({ result: "found go", tool: "wait_for_file" });
  expect((await send(hub, `${location}?full=1`)).body).toMatchObject({ result: { content: [{ text: "found go" }] } });
});

test("without the header a call answers with its value", LONG, async () => {
  await using hub = await TaskHub.start("");
  const url = new URL("/api/tools/greet", hub.url);
  const response = await fetch(url, {
    method: "POST",
    body: '{"name":"Ada"}',
    headers: { "content-type": "application/json", prefer: "wait=5" },
  });
  expect([response.status, await response.json()]).toEqual([200, "Hello, Ada"]);
});

test("a refused call is a failure and does not become a task", LONG, async () => {
  await using hub = await TaskHub.start('[tasks.tools]\nwait_for_file = "never"\n');
  expect(await start(hub, "no_such_tool")).toMatchObject({ status: 404 });
  expect(await start(hub, "greet", { name: 5 })).toMatchObject({ status: 400 });
  expect(await start(hub, "wait_for_file")).toMatchObject({ status: 403, body: { error: { kind: "denied" } } });
  expect((await send(hub, "/api/tasks")).body).toEqual({ tasks: [], total: 0 });
});

test("questions of a tool are answered at `input`, and malformed answers are refused", LONG, async () => {
  await using hub = await TaskHub.start("");
  const { location } = await start(hub, "confirm");
  await expect.poll(() => status(hub, location)).toBe("input_required");
  const [key] = Object.keys((await send(hub, location)).body["inputRequests"] as JsonObject);
  expect(await send(hub, `${location}/input`, { json: { [key!]: "yes" } })).toMatchObject({ status: 400 });
  expect(await send(hub, `${location}/elsewhere`, { json: {} })).toMatchObject({ status: 404 });
  expect(await send(hub, `${location}/input`, { json: { [key!]: { action: "accept" } } })).toMatchObject({
    status: 200,
  });
  await expect.poll(() => status(hub, location)).toBe("completed");
  expect((await send(hub, location)).body).toMatchObject({ result: "accept" });
});

test("DELETE cancels a task; the list shows tasks without results, newest first", LONG, async () => {
  await using hub = await TaskHub.start("");
  const [first, second] = [await start(hub, "wait_for_file"), await start(hub, "greet", { name: "Ada" })];
  expect((await send(hub, first.location, { method: "DELETE" })).body).toMatchObject({ status: "cancelled" });
  await expect.poll(() => status(hub, second.location)).toBe("completed");
  const { body } = await send(hub, "/api/tasks");
  const tasks = body["tasks"] as JsonObject[];
  expect(tasks.map((task) => [task["tool"], task["status"], "result" in task])).toEqual([
    ["greet", "completed", false],
    ["wait_for_file", "cancelled", false],
  ]);
  expect(await send(hub, "/api/tasks/none")).toMatchObject({ status: 404 });
  expect(await send(hub, "/api/tasks/none", { method: "DELETE" })).toMatchObject({ status: 404 });
});

test("a reader that accepts events gets each state until the last", LONG, async () => {
  await using hub = await TaskHub.start("");
  const { location } = await start(hub, "wait_for_file");
  const response = await fetch(location, { headers: { accept: "text/event-stream" } });
  const states = notificationsOf(response);
  expect((await states.next()).value).toMatchObject({ status: "working" });
  await hub.desk.write("go", "");
  let last: JsonObject = {};
  for await (const state of states) last = state;
  expect(last).toMatchObject({ status: "completed", result: "found go" });
});

test("a task of MCP is read by REST by the same principal, and by no other", LONG, async () => {
  await using hub = await TaskHub.start(
    '[tasks]\nmode = "always"\n\n[server.tokens.ada]\ntoken = "ada-secret"\n\n' +
      '[server.tokens.bob]\ntoken = "bob-secret"\n',
  );
  const id = await hub.task("greet", { name: "Ada" }, { token: "ada-secret" });
  const read = (token: string) => send(hub, `/api/tasks/${id}`, { headers: { authorization: `Bearer ${token}` } });
  await expect.poll(async () => (await read("ada-secret")).body["status"]).toBe("completed");
  expect((await read("bob-secret")).status).toBe(404);
});
