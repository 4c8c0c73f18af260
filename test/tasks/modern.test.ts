import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { notificationsOf, TaskHub } from "./task-hub.ts";

const ALWAYS = '[tasks]\nmode = "always"\n';
const LONG = { timeout: 60_000 };

async function status(hub: TaskHub, id: string): Promise<unknown> {
  return (await hub.get(id))["status"];
}

test("a call that takes longer than `after` becomes a task, and a short one does not", LONG, async () => {
  await using hub = await TaskHub.start('[tasks]\nafter = "200ms"\n');
  expect((await hub.call("greet", { name: "Ada" })).result).toMatchObject({ resultType: "complete" });
  const id = await hub.task("wait_for_file");
  expect(await hub.get(id)).toMatchObject({ taskId: id, status: "working", statusMessage: "waiting for go" });
  await hub.desk.write("go", "");
  await expect.poll(() => status(hub, id)).toBe("completed");
  expect(await hub.get(id)).toMatchObject({ result: { content: [{ text: "found go" }] } });
});

test("a client that does not declare the extension waits for the result, and gets no task methods", LONG, async () => {
  await using hub = await TaskHub.start(`${ALWAYS}\n[tasks.tools]\nconfirm = "required"\n`);
  const plain = { declares: false };
  expect((await hub.call("greet", { name: "Ada" }, plain)).result).toMatchObject({ resultType: "complete" });
  expect((await hub.call("confirm", {}, plain)).error).toMatchObject({ code: -32021 });
  expect((await hub.ask("tasks/get", { taskId: "x" }, plain)).error).toMatchObject({ code: -32021 });
});

test("refused calls are errors and do not become tasks", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  expect((await hub.call("no_such_tool")).error).toMatchObject({ code: -32602 });
  expect((await hub.call("greet", { name: 5 })).result).toMatchObject({ isError: true, resultType: "complete" });
});

test("with `mode = never` the extension is not declared, and its methods do not exist", LONG, async () => {
  await using hub = await TaskHub.start('[tasks]\nmode = "never"\n');
  const { result } = await hub.ask("server/discover", {});
  expect(result).toMatchObject({ capabilities: expect.not.objectContaining({ extensions: expect.anything() }) });
  expect((await hub.ask("tasks/get", { taskId: "x" })).error).toMatchObject({ code: -32601 });
  expect((await hub.call("greet", { name: "Ada" })).result).toMatchObject({ resultType: "complete" });
});

test("a task continues after its client disconnected", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  const id = await hub.task("wait_for_file");
  await hub.desk.write("go", "");
  await expect.poll(() => status(hub, id)).toBe("completed");
});

test("answers to requests for input reach the tool; unknown keys and other tasks are not affected", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  const options = { capabilities: { elicitation: {} } };
  const [id, other] = [await hub.task("confirm", {}, options), await hub.task("confirm", {}, options)];
  await expect.poll(() => status(hub, id)).toBe("input_required");
  const [key] = Object.keys((await hub.get(id))["inputRequests"] as JsonObject);
  const update = (inputResponses: JsonObject) => hub.ask("tasks/update", { taskId: id, inputResponses }, options);
  expect((await update({ unknown: { action: "accept" } })).result).toMatchObject({ resultType: "complete" });
  expect(await status(hub, id)).toBe("input_required");
  await update({ [key!]: { action: "decline" } });
  await expect.poll(() => status(hub, id)).toBe("completed");
  expect(await hub.get(id)).toMatchObject({ result: { content: [{ text: "decline" }] } });
  expect(await status(hub, other)).toBe("input_required");
});

test("a tool cannot ask for input that the client did not declare", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  const id = await hub.task("confirm");
  await expect.poll(() => status(hub, id)).not.toBe("working");
  expect(JSON.stringify(await hub.get(id))).toContain("elicitation");
});

test("a cancelled task ends the tool's call and stays cancelled", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  const id = await hub.task("wait_for_file");
  for (let count = 0; count < 2; count += 1)
    expect((await hub.ask("tasks/cancel", { taskId: id })).result).toMatchObject({ resultType: "complete" });
  await hub.desk.write("go", "");
  expect(await hub.get(id)).toMatchObject({ status: "cancelled" });
  expect((await hub.ask("tasks/cancel", { taskId: "none" })).error).toMatchObject({ code: -32602 });
});

test("another token's task is answered like a task that does not exist", LONG, async () => {
  await using hub = await TaskHub.start(
    `${ALWAYS}\n[server.tokens.ada]\ntoken = "ada-secret"\n\n[server.tokens.bob]\ntoken = "bob-secret"\n`,
  );
  const [ada, bob] = [{ token: "ada-secret" }, { token: "bob-secret" }];
  const id = await hub.task("wait_for_file", {}, ada);
  expect(await hub.get(id, ada)).toMatchObject({ status: "working" });
  const absent = (await hub.ask("tasks/get", { taskId: "none" }, bob)).error;
  for (const method of ["tasks/get", "tasks/cancel"])
    expect((await hub.ask(method, { taskId: id }, bob)).error).toEqual(absent);
  expect((await hub.ask("tasks/update", { taskId: id, inputResponses: {} }, bob)).error).toEqual(absent);
  expect(await hub.get(id, ada)).toMatchObject({ status: "working" });
});

test("subscriptions/listen reports the changes of the caller's own tasks", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  const id = await hub.task("wait_for_file");
  const notifications = { taskIds: [id, "someone-elses"] };
  const stream = notificationsOf(await hub.open("subscriptions/listen", { notifications }));
  const first = (await stream.next()).value as JsonObject;
  expect(first).toMatchObject({ params: { notifications: { taskIds: [id] } } });
  await hub.desk.write("go", "");
  const next = (await stream.next()).value as JsonObject;
  expect(next).toMatchObject({
    method: "notifications/tasks",
    params: { taskId: id, status: "completed", result: { content: [{ text: "found go" }] } },
  });
  await stream.return(undefined);
});

test("subscriptions/listen refuses task ids from a client that does not declare the extension", LONG, async () => {
  await using hub = await TaskHub.start(ALWAYS);
  const id = await hub.task("wait_for_file");
  const params = { notifications: { taskIds: [id] } };
  const response = await hub.open("subscriptions/listen", params, { declares: false });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { code: -32021, data: { requiredCapabilities: { extensions: expect.anything() } } } },
  ]);
});

test(
  "after kill -9 a finished task keeps its result, an idempotent one runs again, and another one fails",
  LONG,
  async () => {
    await using hub = await TaskHub.start(ALWAYS);
    const finished = await hub.task("greet", { name: "Ada" });
    await expect.poll(() => status(hub, finished)).toBe("completed");
    const [once, again] = [await hub.task("wait_for_file"), await hub.task("wait_again")];
    await hub.kill();
    await hub.restart();
    expect(await hub.get(finished)).toMatchObject({
      status: "completed",
      result: { content: [{ text: "Hello, Ada" }] },
    });
    expect(await hub.get(once)).toMatchObject({ status: "failed", error: { code: -32603 } });
    expect(await hub.get(again)).toMatchObject({ status: "working" });
    await hub.desk.write("go", "");
    await expect.poll(() => status(hub, again)).toBe("completed");
  },
);
