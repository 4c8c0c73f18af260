import { expect, test } from "vitest";
import { TaskHub } from "./task-hub.ts";

const LONG = { timeout: 120_000 };

test("`call --task` prints an id; `tasks` lists, shows, waits for and cancels the caller's tasks", LONG, async () => {
  await using hub = await TaskHub.start("");
  const run = (...args: string[]) => hub.desk.run([...args, "--url", hub.url]);
  const started = await run("call", "wait_for_file", "name=ready", "--task");
  const id = started.stdout.trim();
  expect([started.code, id]).toEqual([0, expect.stringMatching(/^[\w-]{22}$/)]);
  expect((await run("tasks", "list")).stdout).toMatch(/wait_for_file\s+working\s+waiting for ready/);
  expect(started.stderr).toContain(`\`toolyard tasks wait ${id} --url ${hub.url}\` waits for the result.`);
  const slow = await run("tasks", "wait", id, "--timeout", "1ms");
  expect([slow.code, slow.stderr]).toEqual([expect.any(Number), expect.stringContaining("It goes on.")]);
  await hub.desk.write("ready", "");
  expect(await run("tasks", "wait", id)).toMatchObject({ code: 0, stdout: "found ready\n" });
  expect((await run("tasks", "list")).stdout).not.toContain("waiting for ready");
  expect(JSON.parse((await run("tasks", "show", id, "--json")).stdout)).toMatchObject({ id, result: "found ready" });
  const other = JSON.parse((await run("call", "wait_for_file", "{}", "--task", "--json")).stdout) as { id: string };
  expect((await run("tasks", "cancel", other.id)).stdout).toBe("The task of wait_for_file is cancelled.\n");
  expect((await run("tasks", "show", other.id)).stdout).toBe("wait_for_file is cancelled: waiting for go\n");
});

test("refused calls, unknown tasks and absent hubs are errors with advice", LONG, async () => {
  await using hub = await TaskHub.start("");
  const run = (...args: string[]) => hub.desk.run([...args, "--url", hub.url]);
  expect(await run("call", "no_such_tool", "--task")).toMatchObject({ code: 3, stdout: "" });
  expect((await run("tasks", "show", "none")).stderr).toContain("There is no such task for you");
  expect((await run("tasks", "list")).stdout).toContain("You have no tasks at this hub");
  const absent = await hub.desk.run(["tasks", "list", "--url", "http://127.0.0.1:9/mcp"]);
  expect(absent.stderr).toMatch(/No hub answers at http:\/\/127\.0\.0\.1:9.*start one with `toolyard serve`/);
});

test("`chat --task` requires a question and a hub with a model, and refuses a model of its own", LONG, async () => {
  await using hub = await TaskHub.start("");
  const run = (...args: string[]) => hub.desk.run(["chat", "--task", ...args, "--url", hub.url]);
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("--once <question>") });
  const own = await run("--once", "Hi", "--model", "ollama/qwen3");
  expect(own).toMatchObject({ code: 2, stderr: expect.stringContaining("Leave out --model") });
  expect(await run("--once", "Hi")).toMatchObject({
    stdout: "",
    stderr: expect.stringContaining("No agent is available"),
  });
});
