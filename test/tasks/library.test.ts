import { setTimeout as pause } from "node:timers/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";

let home: string;
let hub: LibraryHub;
let release: () => void;
let gate: Promise<void>;

const NONE = { type: "object" };

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-tasks-"));
  gate = new Promise((resolve) => (release = resolve));
  hub = await open();
});

afterEach(async () => {
  await hub.close();
  await rm(home, { recursive: true, force: true });
});

function open(): Promise<LibraryHub> {
  return createHub({
    variables: { HOME: home, XDG_DATA_HOME: home, TOOLYARD_DATA: home },
    settings: { logging: { level: "error" } },
    registerTools: (tools) => {
      const waits = async (_args: object, { signal }: { signal: AbortSignal }) => {
        await Promise.race([gate, pause(60_000, undefined, { signal })]);
        return "done";
      };
      tools.registerTool("waits", waits, NONE, "Waits");
      const number = { type: "object", properties: { n: { type: "number" } } };
      tools.registerTool("strict", () => "done", number, "Takes a number");
      tools.registerTool(
        "fails",
        () => {
          throw new Error("The printer is on fire.");
        },
        NONE,
        "Fails",
      );
      tools.registerTool(
        "asks",
        async (_args, { ask }) => (await ask("elicitation/create", FORM))["action"],
        NONE,
        "Asks",
      );
    },
  });
}

const FORM = { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } };

test("a task of a program works until its call ends, and returns the outcome of the call each time", async () => {
  const task = await hub.task("waits");
  expect(task.state()).toMatchObject({ status: "working", tool: "waits", endpoint: "library" });
  const outcome = task.outcome();
  release();
  expect(await outcome).toMatchObject({ ok: true, result: { content: [{ type: "text", text: "done" }] } });
  expect(await task.outcome()).toMatchObject({ ok: true });
});

test("a program finds its tasks by id and in a list, and an unknown id is `undefined`", async () => {
  const { id } = await hub.task("waits");
  expect((await hub.findTask(id))?.state()?.id).toBe(id);
  expect((await hub.tasks()).map((task) => task.id)).toEqual([id]);
  expect(await hub.findTask("none")).toBeUndefined();
});

test("a tool that fails is a failure of the kind `tool_error` with the tool's own result", async () => {
  const task = await hub.task("fails");
  expect(await task.outcome()).toMatchObject({
    ok: false,
    kind: "tool_error",
    message: expect.stringContaining("The printer is on fire."),
    result: { isError: true },
  });
});

test("a cancelled task is a failure of the kind `cancelled`", async () => {
  const task = await hub.task("waits");
  expect(task.cancel()).toBe(true);
  expect(await task.outcome()).toMatchObject({ ok: false, kind: "cancelled" });
});

test("an aborted wait ends, and the task continues", async () => {
  const task = await hub.task("waits");
  expect(await task.outcome({ signal: AbortSignal.abort() })).toMatchObject({ ok: false, kind: "cancelled" });
  expect(task.state()?.status).toBe("working");
});

test("a program answers the server requests of a task", async () => {
  const task = await hub.task("asks", {}, { capabilities: { elicitation: {} } });
  await expect.poll(() => task.state()?.status).toBe("input_required");
  const [key] = Object.keys(task.state()!.inputRequests!);
  expect(task.respond({ [key!]: { action: "accept", content: {} } })).toBe(true);
  expect(await task.outcome()).toMatchObject({ ok: true, result: { content: [{ text: "accept" }] } });
});

test("changes of a task reach its listener until the listener is removed", async () => {
  const task = await hub.task("waits");
  const states: string[] = [];
  const stop = task.onChange(({ status }) => states.push(status));
  release();
  await task.outcome();
  expect(states.at(-1)).toBe("completed");
  stop();
});

test.each([
  ["an unknown tool", "missing", {}, "unknown_tool"],
  ["invalid arguments", "strict", { n: "many" }, "invalid_params"],
])("a task for %s is refused", async (_what, tool, args, kind) => {
  await expect(hub.task(tool, args)).rejects.toMatchObject({ failure: { kind } });
});

test("a finished task is read by the next hub of the program", async () => {
  release();
  const task = await hub.task("waits");
  await task.outcome();
  await hub.close();
  hub = await open();
  const found = await hub.findTask(task.id);
  expect(await found?.outcome()).toMatchObject({ ok: true, result: { content: [{ text: "done" }] } });
});
