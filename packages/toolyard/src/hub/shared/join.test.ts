import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { joinOrStart } from "./join.ts";

/** Joins a hub whose process runs `code`. Returns how often the process was started, and the reported reason. */
async function startsOf(code: string): Promise<readonly [starts: number, reason: string]> {
  const folder = mkdtempSync(join(tmpdir(), "toolyard-join-"));
  let starts = 0;
  try {
    const joined = await joinOrStart({
      place: { socket: join(folder, "s"), lock: join(folder, "lock"), log: join(folder, "log") },
      hello: { identity: "same" },
      start: () => {
        starts += 1;
        return spawn(process.execPath, ["-e", code]);
      },
      signal: new AbortController().signal,
    });
    return [starts, "reason" in joined ? joined.reason : ""];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test.runIf(process.platform !== "win32")("restarts a hub that is killed during its start", async () => {
  const reason: unknown = expect.stringContaining("it ended with SIGKILL");
  expect(await startsOf("process.kill(process.pid, 'SIGKILL')")).toEqual([2, reason]);
});

test("does not restart a hub that exits by itself, because it would exit again", async () => {
  expect(await startsOf("process.exit(3)")).toEqual([1, expect.stringContaining("it ended with exit code 3")]);
});
