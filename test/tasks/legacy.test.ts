// Tasks of 2025-11-25: the official client of that revision calls tools of the hub as tasks.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ProgressNotificationSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { TaskHub } from "./task-hub.ts";

const LONG = { timeout: 60_000 };
const RELATED = "io.modelcontextprotocol/related-task";

class LegacyClient implements AsyncDisposable {
  readonly client = new Client({ name: "v1", version: "1" }, { capabilities: { elicitation: {} } });

  static async connect(hub: TaskHub, token?: string): Promise<LegacyClient> {
    const one = new LegacyClient();
    const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
    await one.client.connect(new StreamableHTTPClientTransport(new URL(hub.url), { requestInit }) as never);
    return one;
  }

  async task(name: string, args: JsonObject = {}, extra: JsonObject = {}): Promise<string> {
    const params = { name, arguments: args, task: { ttl: 60_000 }, ...extra };
    return (await this.client.request({ method: "tools/call", params }, CreateTaskResultSchema)).task.taskId;
  }

  async status(taskId: string): Promise<string> {
    return (await this.client.experimental.tasks.getTask(taskId)).status;
  }

  result(taskId: string) {
    return this.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

test("a client of 2025-11-25 starts a task, reads its state, and receives its result", LONG, async () => {
  await using hub = await TaskHub.start("");
  await using one = await LegacyClient.connect(hub);
  expect(one.client.getServerCapabilities()).toMatchObject({ tasks: { list: {}, requests: { tools: { call: {} } } } });
  const id = await one.task("wait_for_file");
  expect(await one.client.experimental.tasks.getTask(id)).toMatchObject({ status: "working", ttl: 60_000 });
  const result = one.result(id);
  await hub.desk.write("go", "");
  expect(await result).toMatchObject({ content: [{ text: "found go" }], _meta: { [RELATED]: { taskId: id } } });
  expect(await one.status(id)).toBe("completed");
  expect(await one.result(id)).toMatchObject({ content: [{ text: "found go" }] });
});

test("a call without `task` answers with the result of the tool", LONG, async () => {
  await using hub = await TaskHub.start("");
  await using one = await LegacyClient.connect(hub);
  expect(await one.client.callTool({ name: "greet", arguments: { name: "Ada" } })).toMatchObject({
    content: [{ text: "Hello, Ada" }],
  });
});

test("a tool's request for input arrives with the id of the task while its result is awaited", LONG, async () => {
  await using hub = await TaskHub.start("");
  await using one = await LegacyClient.connect(hub);
  const asked: unknown[] = [];
  one.client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params._meta?.[RELATED]);
    return { action: "decline" };
  });
  const id = await one.task("confirm");
  await expect.poll(() => one.status(id)).toBe("input_required");
  const results = await Promise.all([one.result(id), one.result(id)]);
  for (const result of results) expect(result).toMatchObject({ content: [{ text: "decline" }] });
  expect(asked).toEqual([{ taskId: id }]);
});

test("a client that refuses the request with an error ends the tool with that error", LONG, async () => {
  await using hub = await TaskHub.start("");
  await using one = await LegacyClient.connect(hub);
  one.client.setRequestHandler(ElicitRequestSchema, () => {
    throw new Error("No user is here.");
  });
  const id = await one.task("confirm");
  expect(JSON.stringify(await one.result(id))).toContain("No user is here.");
  expect(await one.status(id)).toBe("failed");
});

test("refused calls are answered as without a task, and create none", LONG, async () => {
  await using hub = await TaskHub.start('[tasks.tools]\nwait_for_file = "never"\n');
  await using one = await LegacyClient.connect(hub);
  await expect(one.task("no_such_tool")).rejects.toMatchObject({ code: -32602 });
  await expect(one.task("wait_for_file")).rejects.toMatchObject({ code: -32601 });
  await expect(one.task("greet", {}, { task: 5 })).rejects.toThrow();
  await expect(one.task("greet", {}, { task: { ttl: -1 } })).rejects.toMatchObject({ code: -32602 });
  expect((await one.client.experimental.tasks.listTasks()).tasks).toEqual([]);
});

test("cancelling ends a task; a finished or unknown task cannot be cancelled", LONG, async () => {
  await using hub = await TaskHub.start("");
  await using one = await LegacyClient.connect(hub);
  const { tasks } = one.client.experimental;
  const id = await one.task("wait_for_file");
  const result = one.result(id);
  expect(await tasks.cancelTask(id)).toMatchObject({ taskId: id, status: "cancelled" });
  await expect(result).rejects.toMatchObject({ code: -32603 });
  await expect(tasks.cancelTask(id)).rejects.toMatchObject({ code: -32602 });
  for (const attempt of [tasks.cancelTask("none"), tasks.getTask("none"), one.result("none")])
    await expect(attempt).rejects.toMatchObject({ code: -32602 });
});

test("the list has the tasks of the caller in pages, from every session of the caller", LONG, async () => {
  const tokens = '[server.tokens.ada]\ntoken = "ada-secret"\n\n[server.tokens.bob]\ntoken = "bob-secret"\n';
  await using hub = await TaskHub.start(`[tasks]\nmax_running = 200\n${tokens}`);
  await using ada = await LegacyClient.connect(hub, "ada-secret");
  await using again = await LegacyClient.connect(hub, "ada-secret");
  await using bob = await LegacyClient.connect(hub, "bob-secret");
  const ids: string[] = [];
  for (let count = 0; count < 101; count += 1) ids.push(await ada.task("greet", { name: `${count}` }));
  const first = await again.client.experimental.tasks.listTasks();
  expect(first.tasks).toHaveLength(100);
  const second = await again.client.experimental.tasks.listTasks(first.nextCursor);
  expect([...first.tasks, ...second.tasks].map(({ taskId }) => taskId)).toEqual(ids.toReversed());
  expect(second.nextCursor).toBeUndefined();
  expect((await bob.client.experimental.tasks.listTasks()).tasks).toEqual([]);
  await expect(bob.result(ids[0]!)).rejects.toMatchObject({ code: -32602 });
  await expect(ada.client.experimental.tasks.listTasks("nonsense")).rejects.toMatchObject({ code: -32602 });
});

test("progress keeps the token of the call, and changes of the status are reported", LONG, async () => {
  await using hub = await TaskHub.start("");
  await using one = await LegacyClient.connect(hub);
  const reports: unknown[] = [];
  one.client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void reports.push(params.status));
  one.client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void reports.push(params.message));
  const id = await one.task("wait_for_file", {}, { _meta: { progressToken: "mine" } });
  await expect.poll(() => reports).toContain("waiting for go");
  await hub.desk.write("go", "");
  await expect.poll(() => reports).toContain("completed");
  expect(await one.status(id)).toBe("completed");
});

test("lists name tools that the configuration allows as tasks, and only those", LONG, async () => {
  await using hub = await TaskHub.start('[tasks.tools]\n"wait_*" = "always"\ngreet = "never"\n');
  await using one = await LegacyClient.connect(hub);
  const { tools } = await one.client.listTools();
  const support = Object.fromEntries(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
  expect(support).toMatchObject({ wait_for_file: "optional", wait_again: "optional" });
  expect([support["greet"], support["confirm"]]).toEqual([undefined, undefined]);
});

test("without tasks, neither the capability nor the methods exist, and `task` has no effect", LONG, async () => {
  await using hub = await TaskHub.start('[tasks]\nmode = "never"\n');
  await using one = await LegacyClient.connect(hub);
  expect(one.client.getServerCapabilities()).not.toHaveProperty("tasks");
  const params = { name: "greet", arguments: { name: "Ada" }, task: { ttl: 60_000 } };
  const result = await one.client.request({ method: "tools/call", params }, CallToolResultSchema);
  expect(result).toMatchObject({ content: [{ text: "Hello, Ada" }] });
  await expect(one.status("x")).rejects.toMatchObject({ code: -32601 });
});

test("the official client follows a task from the call to its result", LONG, async () => {
  await using hub = await TaskHub.start('[tasks.tools]\nwait_for_file = "always"\n');
  await using one = await LegacyClient.connect(hub);
  await one.client.listTools();
  await hub.desk.write("go", "");
  const types: string[] = [];
  const stream = one.client.experimental.tasks.callToolStream({ name: "wait_for_file", arguments: {} }, undefined, {
    task: { ttl: 60_000 },
  });
  for await (const message of stream) types.push(message.type);
  expect([types[0], types.at(-1)]).toEqual(["taskCreated", "result"]);
});
