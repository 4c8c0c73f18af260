import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { LostTime, readShares, type ThreadShare } from "./lost-time.ts";

function share(id: string, ranMs: number, waitedMs: number, isAtDisk = false): ThreadShare {
  return { id, ranMs, waitedMs, isAtDisk };
}

function looks(...tables: readonly (readonly ThreadShare[])[]): readonly number[] {
  let at = 0;
  const lost = new LostTime(() => tables[at]!);
  return tables.map((_, index) => {
    at = index;
    return lost.look(1, 100);
  });
}

test("counts the time that a thread waited for a processor as lost, but not the time that it ran or slept", () => {
  expect(looks([share("a", 20, 80)], [share("a", 60, 120)], [share("a", 60, 120)])).toEqual([80, 40, 0]);
  expect(looks([share("a", 100, 0)])).toEqual([0]);
});

test("divides missing processor time among all threads that need it", () => {
  expect(looks([share("a", 50, 150), share("b", 50, 150)])).toEqual([75]);
  expect(looks([share("a", 100, 0), share("b", 100, 0)])).toEqual([0]);
});

test("counts the time that a thread waits for a disk as lost", () => {
  expect(looks([share("a", 0, 0, true)], [share("a", 0, 0)])).toEqual([100, 0]);
});

test("subtracts nothing if a thread exited or its number was reused", () => {
  expect(looks([share("a", 0, 80), share("b", 0, 20)], [share("a", 0, 80)], [share("a", 0, 10)])).toEqual([100, 0, 0]);
});

test("returns 0 for a missing process", () => {
  expect(new LostTime().look(2 ** 22 + 1, 100)).toBe(0);
});

test.runIf(process.platform === "linux")(
  "reports lost time if more processes run than there are processors",
  async () => {
    const parent = spawn(
      process.execPath,
      [
        "-e",
        `const { spawn } = require("node:child_process");
     for (let count = 0; count < ${availableParallelism() * 2}; count += 1) spawn(process.execPath, ["-e", "for(;;);"]);
     process.stdin.once("end", () => process.kill(-process.pid, "SIGKILL")).resume();`,
      ],
      { detached: true, stdio: ["pipe", "ignore", "ignore"] },
    );
    try {
      const waitedMs = (): number => readShares(parent.pid!).reduce((sum, one) => sum + one.waitedMs, 0);
      await expect.poll(waitedMs, { timeout: 60_000 }).toBeGreaterThan(100);
      expect(readShares(parent.pid!).some(({ ranMs }) => ranMs > 0)).toBe(true);
    } finally {
      parent.stdin.end();
    }
  },
);
