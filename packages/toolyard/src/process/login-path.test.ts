import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loginPath } from "./login-path.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolyard-login-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Writes a program that takes the place of the user's shell. */
async function shell(script: string): Promise<string> {
  const file = join(home, "shell");
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const RUN = 'while [ "$1" != "-c" ]; do shift; done; eval "$2"';

describe.runIf(process.platform !== "win32")("the PATH of the login shell", () => {
  test("has the folders that a start-up file adds", async () => {
    await writeFile(join(home, ".profile"), 'PATH="/from/profile:$PATH"\n');
    const path = await loginPath({ HOME: home, SHELL: "/bin/sh", PATH: "/usr/bin:/bin" });
    // The system's own start-up files may add further folders.
    expect(path).toMatch(/^\/from\/profile:.*\/bin/);
  });

  test.each([
    ["text before and after the PATH", `echo Welcome; PATH="/a b:$PATH"; ${RUN}; echo bye`, "/a b:/usr/bin:/bin"],
    ["text that is no PATH", "echo nothing", undefined],
    ["an error", "exit 3", undefined],
    ["half of the PATH, then ends", "printf __toolyard_path__/half; exit 0", undefined],
  ])("is the text between the marks if the shell prints %s", async (_what, script, expected) => {
    const found = await loginPath({ HOME: home, SHELL: await shell(script), PATH: "/usr/bin:/bin" });
    expect(found).toBe(expected);
  });

  test("is unknown without SHELL, and if the shell does not exist", async () => {
    expect(await loginPath({ HOME: home, PATH: "/bin" })).toBeUndefined();
    expect(await loginPath({ HOME: home, PATH: "/bin", SHELL: "" })).toBeUndefined();
    expect(await loginPath({ HOME: home, PATH: "/bin", SHELL: join(home, "none") })).toBeUndefined();
  });

  test("is unknown if a start-up file never ends, and its processes are ended", async () => {
    const file = join(home, "pid");
    const SHELL = await shell(`echo $$ > ${file}; sleep 1000`);
    expect(await loginPath({ HOME: home, SHELL, PATH: "/usr/bin:/bin" }, 300)).toBeUndefined();
    const pid = Number(await readFile(file, "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
