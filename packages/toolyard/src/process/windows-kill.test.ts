import { expect, test } from "vitest";
import { killOnWindows, type WindowsSystem } from "./windows-kill.ts";

const ROOT = { pid: 40, bornAtMs: 1_760_000_000_000 };

/** Simulates a machine with these processes; 41 and 42 are descendants of 40. */
function machine(alive: readonly number[], taskkill: (pid: number) => number | undefined | "ends") {
  const living = new Set(alive);
  const log: string[] = [];
  const system: WindowsSystem = {
    isAlive: (pid) => living.has(pid),
    taskkill: async (pid) => {
      log.push(`taskkill ${pid}`);
      const code = taskkill(pid);
      if (code !== "ends") return code;
      if (!living.delete(pid)) return 128;
      if (pid === 40) for (const child of [41, 42]) living.delete(child);
      return 0;
    },
    livingFamily: async () => [40, 41, 42].filter((pid) => living.has(pid)),
    terminate: (pid) => {
      log.push(`terminate ${pid}`);
      living.delete(pid);
    },
  };
  return { system, living, log };
}

test("ends a living tree by one taskkill", async () => {
  const { system, living, log } = machine([40, 41, 42], () => "ends");
  await killOnWindows(ROOT, 0, system);
  expect([Array.from(living), log]).toEqual([[], ["taskkill 40"]]);
});

test("ends the descendants of a root that has exited", async () => {
  const { system, living, log } = machine([41, 42, 7], () => "ends");
  await killOnWindows(ROOT, 0, system);
  expect([Array.from(living), log]).toEqual([[7], ["taskkill 41", "taskkill 42"]]);
});

test.each([
  ["fails", 1],
  ["does not run", undefined],
])("terminates the processes itself if taskkill %s", async (_how, code) => {
  const { system, living, log } = machine([40, 41], () => code);
  await killOnWindows(ROOT, 0, system);
  expect(Array.from(living)).toEqual([]);
  expect(log).toEqual(["taskkill 40", "taskkill 40", "terminate 40", "taskkill 41", "terminate 41"]);
});

test("ends the root if the system does not report the family", async () => {
  const { system, living } = machine([40], () => 1);
  await killOnWindows(ROOT, 0, { ...system, livingFamily: async () => undefined });
  expect(Array.from(living)).toEqual([]);
});

test("ends nothing if the whole tree has exited", async () => {
  const { system, log } = machine([7], () => "ends");
  await killOnWindows(ROOT, 1000, system);
  await killOnWindows(ROOT, 0, { ...system, livingFamily: async () => undefined });
  expect(log).toEqual([]);
});
