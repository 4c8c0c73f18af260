// Tasks and schedules of hubs with one store: each hub is a process of its own, and any of them may be killed.
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { TaskHub } from "./task-hub.ts";

const LONG = { timeout: 120_000 };
/** Time after which other hubs notice that a hub was killed, on a busy machine. */
const RESCUE = { timeout: 60_000, interval: 500 };

describe("hubs with one store", () => {
  let server: RedisServer;
  beforeEach(async ({ skip }) => {
    skip(!HAS_REDIS, "Redis is not on this machine");
    server = await RedisServer.start();
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
  });

  const start = (config = ""): Promise<TaskHub> =>
    TaskHub.start(`[store]\nurl = "${server.url}"\n[tasks]\nmode = "always"\n${config}`);

  const status = async (hub: TaskHub, id: string): Promise<unknown> => (await hub.get(id))["status"];

  test("any hub answers for a task, and continues or ends those of a killed hub", LONG, async () => {
    await using one = await start();
    await using two = await start();
    const options = { capabilities: { elicitation: {} } };
    const asking = await one.task("confirm", {}, options);
    await expect.poll(() => status(two, asking)).toBe("input_required");
    const [key] = Object.keys((await two.get(asking))["inputRequests"] as JsonObject);
    await two.ask("tasks/update", { taskId: asking, inputResponses: { [key!]: { action: "accept" } } }, options);
    await expect.poll(async () => (await two.get(asking))["result"]).toMatchObject({ content: [{ text: "accept" }] });
    const cancelled = await one.task("wait_for_file");
    await two.ask("tasks/cancel", { taskId: cancelled });
    await expect.poll(() => status(one, cancelled)).toBe("cancelled");
    const [once, again] = [await one.task("wait_for_file"), await one.task("wait_again")];
    const listed = (await (await fetch(new URL("/api/tasks", two.url))).json()) as { tasks: { id: string }[] };
    expect(listed.tasks.map(({ id }) => id)).toEqual([again, once, cancelled, asking]);
    await one.kill();
    await expect.poll(() => status(two, once), RESCUE).toBe("failed");
    expect(JSON.stringify(await two.get(once))).toContain("was not called again");
    await two.desk.write("go", "");
    await expect.poll(() => status(two, again), RESCUE).toBe("completed");
  });

  test("a hub that ends releases its tasks to the others immediately", LONG, async () => {
    await using one = await start();
    await using two = await start();
    const [once, again] = [await one.task("wait_for_file"), await one.task("wait_again")];
    await one.end();
    expect(await two.get(once)).toMatchObject({ status: "failed", error: { code: -32603 } });
    expect(await two.get(again)).toMatchObject({ status: "working" });
    await two.desk.write("go", "");
    await expect.poll(() => status(two, again)).toBe("completed");
  });

  test("scheduled runs start once in all hubs, and every hub lists them", LONG, async () => {
    const schedule = '[schedules.tick]\ncron = "* * * * * *"\ntool = "greet"\narguments = { name = "Ada" }\n';
    await using one = await start(schedule);
    await using two = await start(schedule);
    const runsAt = async (hub: TaskHub): Promise<readonly { createdAt: string; status: string }[]> => {
      const body = (await (await fetch(new URL("/status/schedules/tick", hub.url))).json()) as { runs: never[] };
      return body.runs;
    };
    await expect.poll(async () => (await runsAt(two)).length, { timeout: 30_000 }).toBeGreaterThan(3);
    const runs = await runsAt(one);
    const seconds = runs.map(({ createdAt }) => createdAt.slice(0, 19));
    expect(new Set(seconds).size).toBeGreaterThanOrEqual(seconds.length - 1);
  });

  test("while the store is down, the hub reads its own tasks, and calls wait for their results", LONG, async () => {
    await using hub = await start();
    const id = await hub.task("wait_for_file");
    await server.kill();
    await expect
      .poll(async () => (await hub.call("greet", { name: "Ada" })).result)
      .toMatchObject({
        resultType: "complete",
        content: [{ text: "Hello, Ada" }],
      });
    expect(await status(hub, id)).toBe("working");
    expect((await hub.ask("tasks/get", { taskId: "other" })).error).toMatchObject({ code: -32603 });
    expect((await fetch(new URL("/api/tasks/other", hub.url))).status).toBe(503);
    await server.resume();
    await hub.desk.write("go", "");
    await expect.poll(() => status(hub, id)).toBe("completed");
    await expect.poll(async () => (await hub.call("greet", { name: "Bo" })).result?.["resultType"]).toBe("task");
    expect(await readFile(hub.desk.path("calls"), "utf8")).toBe("go\n");
  });
});
