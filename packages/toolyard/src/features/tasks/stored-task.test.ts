import { expect, test } from "vitest";
import { newTaskId } from "./stored-task.ts";

test("creates different ids that no command reads as an option", () => {
  const ids = Array.from({ length: 2000 }, newTaskId);
  expect(new Set(ids).size).toBe(2000);
  expect(ids.filter((id) => !/^\w[\w-]{21}$/.test(id))).toEqual([]);
});
