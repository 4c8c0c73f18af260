// Tasks of several hubs in one Redis server. Each hub has its own connection, as in a process of its own.
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ControlledRun } from "../../../../../../test/support/controlled-run.ts";
import { HAS_REDIS, RedisServer } from "../../../../../../test/support/redis-server.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../../../core/calls/call.ts";
import { fail } from "../../../core/calls/outcome.ts";
import { FailError } from "../../../core/errors.ts";
import { Emitter } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { StartedCall, TaskSnapshot } from "../../../core/ports/tasks.ts";
import { REDIS } from "../../../state/redis/kind.ts";
import type { HubState } from "../../../state/ports/store.ts";
import { resolveTasks } from "../options.ts";
import { SharedTasks } from "./shared-tasks.ts";

const OTHER: Principal = { ...LOCAL_PRINCIPAL, id: "other" };
const DONE: JsonObject = { content: [{ type: "text", text: "done" }] };
const RESCUE_MS = 600;
const LIMITED = { maxRunning: 4 };

interface TestHub {
  readonly state: HubState;
  readonly tasks: SharedTasks;
  readonly started: StartedCall[];
  readonly runs: ControlledRun[];
}

describe("several hubs with one Redis server", () => {
  let server: RedisServer;
  const hubs: TestHub[] = [];

  const join = async (
    name: string,
    extra: { isMute?: boolean; url?: string; maxRunning?: number } = {},
  ): Promise<TestHub> => {
    const importRedis = (): Promise<unknown> => import("ioredis");
    const { url = server.url } = extra;
    const state = await REDIS.open({ store: { url } }, { importRedis })!.join(name);
    const started: StartedCall[] = [];
    const runs: ControlledRun[] = [];
    const tasks = new SharedTasks({
      queues: state.queues!,
      limits: state.limits,
      importBullmq: () => import("bullmq"),
      rescueMs: extra.isMute ? 3_600_000 : RESCUE_MS,
      options: () => resolveTasks({ max_running: extra.maxRunning ?? 50 }),
      logger: { warning: () => {} },
      changed: new Emitter(),
      run: (call) => {
        started.push(call);
        runs.push(new ControlledRun(true));
        return runs.at(-1)!;
      },
    });
    hubs.push({ state, tasks, started, runs });
    return hubs.at(-1)!;
  };

  const create = async (hub: TestHub, more: { isIdempotent?: boolean; upstream?: boolean } = {}) => {
    const run = new ControlledRun(true);
    const call = { principal: LOCAL_PRINCIPAL, endpoint: "rest", tool: "report", arguments: { year: 2026 } };
    const upstream = more.upstream ? { source: "s", taskId: "u-1", era: "modern" as const } : undefined;
    const task = await hub.tasks.create({ ...call, isIdempotent: more.isIdempotent ?? false, upstream }, run);
    return { id: task.id, run };
  };

  const read = async (hub: TestHub, id: string, principal = LOCAL_PRINCIPAL): Promise<TaskSnapshot | undefined> => {
    await hub.tasks.ready({ id, principal });
    return hub.tasks.get(id, principal);
  };

  /** Ends a hub as a crash does: nothing of it is released. */
  const crash = async (hub: TestHub): Promise<void> => {
    hubs.splice(hubs.indexOf(hub), 1);
    vi.spyOn(hub.state.queues!, "isLost", "get").mockReturnValue(true);
    await hub.tasks.close();
    await hub.state.leave();
  };

  beforeEach(async ({ skip }) => {
    skip(!HAS_REDIS, "Redis is not on this machine");
    server = await RedisServer.start();
  });

  afterEach(async () => {
    for (const { tasks, state } of hubs.splice(0)) {
      await tasks.close();
      await state.leave();
    }
    await server[Symbol.asyncDispose]();
  });

  test("every hub reads a task with its progress, requests for input and result, and lists it", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    expect(await read(two, id)).toMatchObject({ status: "working", tool: "report" });
    run.observer.progressed("half");
    await expect.poll(async () => (await read(two, id))?.statusMessage).toBe("half");
    run.open = { "q-1": { method: "elicitation/create", params: {} } };
    run.observer.inputChanged();
    await expect.poll(async () => (await read(two, id))?.inputRequests).toEqual(run.open);
    run.open = {};
    run.observer.settled({ type: "result", result: DONE });
    await expect.poll(async () => (await read(two, id))?.result).toEqual(DONE);
    await two.tasks.ready({ principal: LOCAL_PRINCIPAL });
    expect(two.tasks.list(LOCAL_PRINCIPAL).map((task) => task.id)).toEqual([id]);
  });

  test("a caller has max_running unfinished tasks on all hubs together, independent of other callers", async () => {
    const [one, two] = [await join("one", LIMITED), await join("two", LIMITED)];
    const created = [await create(one), await create(two), await create(one), await create(two)];
    const call = { principal: LOCAL_PRINCIPAL, endpoint: "rest", tool: "report", arguments: {} };
    const refused = { failure: { kind: "limited", message: expect.stringContaining("unfinished tasks") } };
    for (const hub of [one, two]) {
      await expect(create(hub)).rejects.toMatchObject(refused);
      await expect(hub.tasks.start(call)).rejects.toMatchObject(refused);
    }
    await one.tasks.start({ ...call, principal: OTHER });
    created[0]!.run.observer.settled({ type: "result", result: DONE });
    expect(two.tasks.cancel((await create(two)).id, LOCAL_PRINCIPAL)).toBe(true);
    await create(two);
    await expect(create(one)).rejects.toMatchObject(refused);
    await crash(two);
  });

  test("tasks that are started at several hubs at the same time do not exceed max_running", async () => {
    const joined = [await join("one", LIMITED), await join("two", LIMITED), await join("three", LIMITED)];
    const results = await Promise.allSettled(Array.from({ length: 12 }, (_, at) => create(joined[at % 3]!)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
  });

  test("a hub that has reported required input has shown it to all other hubs", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    await read(two, id);
    for (let at = 0; at < 20; at += 1) {
      run.observer.progressed(`step ${at}`);
      run.open = at % 2 === 0 ? { [`q-${at}`]: { method: "elicitation/create", params: {} } } : {};
      run.observer.inputChanged();
      const [own, other] = [await read(one, id), await read(two, id)];
      expect([other?.status, other?.inputRequests]).toEqual([own?.status, own?.inputRequests]);
    }
  });

  test("a hub answers for its own task while the store does not answer", async () => {
    const one = await join("one");
    const { id, run } = await create(one);
    await server.kill();
    run.open = { q: { method: "elicitation/create", params: {} } };
    run.observer.inputChanged();
    expect(await read(one, id)).toMatchObject({ status: "input_required" });
  });

  test("a list of another hub's tasks omits a large result, and a read by id returns it", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const [large, small] = [await create(one), await create(one)];
    const result = { content: [{ type: "text", text: "x".repeat(20_000) }], isError: true };
    large.run.observer.settled({ type: "result", result });
    small.run.observer.settled({ type: "result", result: DONE });
    const listed = async ({ tasks } = two) => {
      await tasks.ready({ principal: LOCAL_PRINCIPAL });
      return new Map(tasks.list(LOCAL_PRINCIPAL).map((task) => [task.id, task]));
    };
    await expect.poll(async () => (await listed()).get(large.id)?.status).toBe("completed");
    await expect.poll(async () => (await listed()).get(small.id)?.result).toEqual(DONE);
    // A hub that listed the task before its end has read the whole result.
    const short = (await listed(await join("three"))).get(large.id)?.result;
    expect(short).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("by its id") }] });
    expect((await read(two, large.id))?.result).toEqual(result);
    const end = await two.tasks.ended(large.id, LOCAL_PRINCIPAL, AbortSignal.timeout(10_000));
    expect(end?.result).toEqual(result);
    expect((await listed()).get(large.id)?.result).toEqual(result);
  });

  test("waiting for a task of another hub returns its large result, even if the task is listed meanwhile", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    await two.tasks.ready({ principal: LOCAL_PRINCIPAL });
    const end = two.tasks.ended(id, LOCAL_PRINCIPAL, AbortSignal.timeout(10_000));
    const result = { content: [{ type: "text", text: "x".repeat(20_000) }] };
    run.observer.settled({ type: "result", result });
    for (let lists = 0; lists < 20; lists += 1) await two.tasks.ready({ principal: LOCAL_PRINCIPAL });
    expect((await end)?.result).toEqual(result);
  });

  test("a list of another hub does not contain expired tasks", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    run.observer.settled({ type: "result", result: DONE });
    await expect.poll(async () => (await read(two, id))?.status).toBe("completed");
    expect(two.tasks.list(LOCAL_PRINCIPAL)).toHaveLength(1);
    vi.useFakeTimers({ now: Date.now() + 365 * 24 * 3_600_000, toFake: ["Date"] });
    try {
      expect(two.tasks.list(LOCAL_PRINCIPAL)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a task can be read at another hub as soon as its handle is returned", async () => {
    const [one, two] = [await join("one"), await join("two")];
    for (let count = 0; count < 20; count += 1) {
      const { id } = await create(one);
      expect(await read(two, id)).toMatchObject({ status: "working" });
    }
  });

  test("for other principals, a task does not exist at any hub", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    expect(await read(two, id, OTHER)).toBeUndefined();
    expect(two.tasks.respond(id, OTHER, { a: {} })).toBe(false);
    expect(two.tasks.cancel(id, OTHER)).toBe(false);
    expect(await two.tasks.ended(id, OTHER, AbortSignal.timeout(1))).toBeUndefined();
    await two.tasks.ready({ principal: OTHER });
    expect(two.tasks.list(OTHER)).toEqual([]);
    expect(run.reason).toBeUndefined();
  });

  test("answers, refusals and cancellations reach the hub that runs the task", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    await read(two, id);
    expect(two.tasks.respond(id, LOCAL_PRINCIPAL, { "q-1": { action: "accept" } })).toBe(true);
    await expect.poll(() => run.answers).toEqual([{ "q-1": { action: "accept" } }]);
    const error = new FailError(fail("denied", "No."));
    expect(two.tasks.refuse(id, LOCAL_PRINCIPAL, { key: "q-2", error })).toBe(true);
    await expect.poll(() => run.refused).toEqual([["q-2", "No."]]);
    expect(two.tasks.cancel(id, LOCAL_PRINCIPAL)).toBe(true);
    await expect.poll(() => run.reason).toBeInstanceOf(FailError);
    run.observer.settled({ type: "result", result: DONE });
    for (const hub of [one, two]) expect(await read(hub, id)).toMatchObject({ status: "cancelled" });
  });

  test("a wait for the end and listeners of changes work at every hub", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    await read(two, id);
    const seen: string[] = [];
    two.tasks.changed.on(({ task }) => void seen.push(task.status));
    const end = two.tasks.ended(id, LOCAL_PRINCIPAL, new AbortController().signal);
    const aborted = two.tasks.ended(id, LOCAL_PRINCIPAL, AbortSignal.timeout(20));
    expect(await aborted).toBeUndefined();
    run.observer.settled({ type: "result", result: DONE });
    expect(await end).toMatchObject({ status: "completed", result: DONE });
    expect(seen.at(-1)).toBe("completed");
  });

  test("a running task of a crashed hub has failed, or is continued once by the hub that reads it", async () => {
    const [one, two, three] = [await join("one"), await join("two"), await join("three")];
    const [once, again, followed] = [
      await create(one),
      await create(one, { isIdempotent: true }),
      await create(one, { upstream: true }),
    ];
    const finished = await create(one);
    finished.run.observer.settled({ type: "result", result: DONE });
    await expect.poll(async () => (await read(two, finished.id))?.status).toBe("completed");
    await crash(one);
    await expect.poll(async () => (await read(two, once.id))?.status, { timeout: 10_000 }).toBe("failed");
    expect((await read(three, once.id))?.error?.message).toContain("was not called again");
    await Promise.all([two, three].flatMap((hub) => [read(hub, again.id), read(hub, followed.id)]));
    const started = [...two.started, ...three.started];
    expect(started).toHaveLength(2);
    expect(started.map(({ arguments: args, follows }) => [args, follows?.taskId])).toEqual(
      expect.arrayContaining([
        [{ year: 2026 }, undefined],
        [{}, "u-1"],
      ]),
    );
    [...two.runs, ...three.runs][0]!.observer.settled({ type: "result", result: DONE });
    expect(await read(three, finished.id)).toMatchObject({ result: DONE });
  });

  test("a hub that ends releases its tasks immediately", async () => {
    const [one, two] = [await join("one", { isMute: true }), await join("two")];
    const { id } = await create(one);
    hubs.splice(hubs.indexOf(one), 1);
    await one.tasks.close();
    await one.state.leave();
    expect(await read(two, id)).toMatchObject({ status: "failed" });
  });

  test("does not end the tasks of a hub that is alive, although the job that renews its lease is overdue", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id } = await create(one);
    await read(two, id);
    const connection = new Redis(server.url, { maxRetriesPerRequest: null });
    const queue = new Queue("tasks", { connection, prefix: `${two.state.queues!.prefix}{queue}` });
    for (let at = 0; at < 10; at += 1)
      await queue.add("rescue", { hub: "one" }, { jobId: `overdue-${at}`, removeOnComplete: true });
    await expect.poll(async () => (await queue.getJobs(["active", "waiting", "prioritized"])).length).toBe(0);
    expect(await read(two, id)).toMatchObject({ status: "working" });
    await queue.close();
    connection.disconnect();
  });

  test("a store that lost its data gets the tasks back from the hubs that have them", async () => {
    const [one, two] = [await join("one"), await join("two")];
    const { id, run } = await create(one);
    await server.kill();
    await expect.poll(() => one.state.queues!.isLost && two.state.queues!.isLost).toBe(true);
    expect(one.tasks.hasRoomFor(LOCAL_PRINCIPAL)).toBe(false);
    expect(await read(one, id)).toMatchObject({ status: "working" });
    await expect(read(two, id)).rejects.toThrow("The shared store cannot be reached");
    const call = { principal: LOCAL_PRINCIPAL, endpoint: "rest", tool: "report", arguments: {} };
    await expect(one.tasks.start(call)).rejects.toThrow("The shared store cannot be reached");
    await expect(one.tasks.admit(LOCAL_PRINCIPAL)).rejects.toThrow("The shared store cannot be reached");
    run.observer.settled({ type: "result", result: DONE });
    await server.resume();
    await expect.poll(() => one.state.queues!.isLost || two.state.queues!.isLost).toBe(false);
    await expect.poll(async () => (await read(two, id))?.result, { timeout: 10_000 }).toEqual(DONE);
  });

  test("each offered run starts once, at one of the hubs that accept runs", async () => {
    const [one, two, idle] = [await join("one"), await join("two"), await join("idle")];
    const runs: string[] = [];
    const end = await one.tasks.runs.serve(async (name) => void runs.push(`one ${name}`));
    await two.tasks.runs.serve(async (name) => void runs.push(`two ${name}`));
    const times = Array.from({ length: 10 }, (_, second) => new Date(second * 1000));
    for (const time of times)
      await Promise.all([one, two, idle].map(({ tasks }) => tasks.runs.offer("night: ly", time)));
    await expect.poll(() => runs.length).toBe(10);
    await idle.tasks.runs.offer("night: ly", times[0]!);
    await end();
    await idle.tasks.runs.offer("other", new Date());
    await expect.poll(() => runs.at(-1)).toBe("two other");
    expect(runs).toHaveLength(11);
  });

  test("an ACL user needs only the keys and channels of the prefix, and no dangerous commands", async () => {
    const redis = new Redis(server.url);
    await redis.call("ACL", "SETUSER", "yard", "on", ">secret", "~toolyard:*", "&toolyard:*", "+@all", "-@dangerous");
    redis.disconnect();
    const url = server.url.replace("redis://", "redis://yard:secret@");
    const [one, two] = [await join("one", { url }), await join("two", { url })];
    const { id } = await create(one);
    const runs: string[] = [];
    await two.tasks.runs.serve(async (name) => void runs.push(name));
    await one.tasks.runs.offer("nightly", new Date());
    await expect.poll(() => runs).toEqual(["nightly"]);
    await crash(one);
    await expect.poll(async () => (await read(two, id))?.status, { timeout: 10_000 }).toBe("failed");
  });

  test("each key of a task has an expiry", async () => {
    const one = await join("one");
    const { run } = await create(one);
    await create(one);
    run.observer.settled({ type: "result", result: DONE });
    const redis = new Redis(server.url);
    try {
      // The two queues of BullMQ have a fixed number of keys without an expiry.
      const keys = (await redis.keys("*task*")).filter((key) => !key.includes("{queue}"));
      expect(keys.length).toBeGreaterThan(3);
      for (const key of keys) expect([key, await redis.pttl(key)]).toEqual([key, expect.toSatisfy((ms) => ms > 0)]);
    } finally {
      redis.disconnect();
    }
  });
});
