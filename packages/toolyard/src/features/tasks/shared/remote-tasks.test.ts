import { expect, test } from "vitest";
import { StoredTask } from "../stored-task.ts";
import { RemoteTasks } from "./remote-tasks.ts";

function remoteTask(id: string, text?: string) {
  const task = new StoredTask({
    id,
    owner: "local",
    tool: "report",
    endpoint: "rest",
    createdAt: new Date().toISOString(),
    ttlMs: 60_000,
    arguments: {},
    isIdempotent: false,
  });
  if (text !== undefined) task.finish({ type: "result", result: { content: [{ type: "text", text }] } });
  return { task, hub: "one", isWhole: true };
}

const ids = (tasks: RemoteTasks): string[] => tasks.all().map(({ task }) => task.facts.id);

test("removes the results that were read first when all results together exceed the limit", () => {
  const tasks = new RemoteTasks(1000);
  tasks.set(remoteTask("running"));
  for (const id of ["a", "b", "c"]) tasks.set(remoteTask(id, "x".repeat(400)));
  expect(ids(tasks)).toEqual(["running", "b", "c"]);
  tasks.set(remoteTask("large", "x".repeat(2000)));
  expect(ids(tasks)).toEqual(["running", "large"]);
  tasks.delete("large");
  for (const id of ["d", "e"]) tasks.set(remoteTask(id, "x".repeat(400)));
  expect(ids(tasks)).toEqual(["running", "d", "e"]);
});

test("counts a task only once, even if it is read again", () => {
  const tasks = new RemoteTasks(1000);
  tasks.set(remoteTask("a", "x".repeat(400)));
  for (let reads = 0; reads < 5; reads += 1) tasks.set(remoteTask("b", "x".repeat(400)));
  expect(ids(tasks)).toEqual(["a", "b"]);
});

test("does not replace a known result by a state without the result", () => {
  const tasks = new RemoteTasks();
  tasks.set(remoteTask("a"));
  tasks.set({ ...remoteTask("a", "short"), isWhole: false });
  expect(tasks.get("a")).toMatchObject({ isWhole: false, task: { isFinal: true } });
  tasks.set(remoteTask("a", "whole"));
  tasks.set({ ...remoteTask("a", "short"), isWhole: false });
  expect(tasks.get("a")?.task.snapshot().result).toEqual({ content: [{ type: "text", text: "whole" }] });
});

test("removes the task that was read first when there are more than 5,000", () => {
  const tasks = new RemoteTasks();
  for (let count = 0; count <= 5000; count += 1) tasks.set(remoteTask(`t${count}`));
  expect([tasks.all().length, tasks.get("t0"), tasks.get("t1")?.hub]).toEqual([5000, undefined, "one"]);
});
