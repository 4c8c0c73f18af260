import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LockTaken, withFileLock } from "./file-lock.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lock = () => join(folder, "inner", "a.lock");

test("holders get the lock one at a time, in order, and leave no file behind", async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((done) => void setImmediate(done));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 12 }, () => withFileLock(lock(), work)));
  expect(most).toBe(1);
  expect(existsSync(lock())).toBe(false);
});

test("one of the waiting callers takes over the lock of an exited process", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  await withFileLock(lock(), async () => {});
  await writeFile(lock(), String(pid));
  let inside = 0;
  const most = await Promise.all(
    Array.from({ length: 8 }, () =>
      withFileLock(lock(), async () => {
        inside += 1;
        const seen = inside;
        await new Promise((done) => void setImmediate(done));
        inside -= 1;
        return seen;
      }),
    ),
  );
  expect(most).toEqual(most.map(() => 1));
});

test("a caller that does not wait takes over the lock of an exited process, but not of a running one", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  await withFileLock(lock(), async () => {});
  await writeFile(lock(), String(pid));
  expect(await withFileLock(lock(), async () => "taken", { waitMs: 0 })).toBe("taken");
  await writeFile(lock(), String(process.pid));
  await expect(withFileLock(lock(), async () => "taken", { waitMs: 0 })).rejects.toThrow(LockTaken);
});

test("waits for the lock of a running holder, then rejects with its name", async () => {
  await withFileLock(lock(), async () => {
    await expect(withFileLock(lock(), async () => {}, { waitMs: 1 })).rejects.toThrow(LockTaken);
  });
  await expect(withFileLock(lock(), async () => "had")).resolves.toBe("had");
});

test("a lock older than the limit is free, even if another process now has the holder's process id", async () => {
  await withFileLock(lock(), async () => {});
  await writeFile(lock(), String(process.pid));
  await utimes(lock(), 0, 0);
  await expect(withFileLock(lock(), async () => "had")).resolves.toBe("had");
});

// A process that may not write a single byte simulates a full disk: the file is created without its holder.
test.runIf(process.platform !== "win32")(
  "a lock that cannot be written fails, and blocks no other process",
  async () => {
    const module = pathToFileURL(join(import.meta.dirname, "../../dist/files/file-lock.js")).href;
    const code = `
    const { withFileLock } = await import(process.argv[1]);
    await withFileLock(process.argv[2], async () => console.log("held")).catch(({ code }) => console.log(code));`;
    const command = `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`;
    const args = ["-c", command, process.execPath, "--input-type=module", "-e", code, "--", module, lock()];
    expect(spawnSync("sh", args, { encoding: "utf8" }).stdout).toBe("EFBIG\n");
    expect(existsSync(lock())).toBe(false);
    await expect(withFileLock(lock(), async () => "had", { waitMs: 0 })).resolves.toBe("had");
  },
);

test("rejects with the error of the work, and releases the lock", async () => {
  await expect(withFileLock(lock(), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(existsSync(lock())).toBe(false);
});
