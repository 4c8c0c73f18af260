import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { realPython } from "./interpreter.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-python-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function shim(text: string): void {
  writeFileSync(join(folder, "python3"), text);
  chmodSync(join(folder, "python3"), 0o755);
}

const env = () => ({ PATH: `${folder}:/usr/bin:/bin` });

test("runs a shim once to find its interpreter", async () => {
  shim(`#!/bin/sh\necho asked >> ${folder}/log\necho /bin/sh\n`);
  expect(
    await Promise.all([
      realPython("python3", { cwd: folder, env: env() }),
      realPython("python3", { cwd: folder, env: env() }),
    ]),
  ).toEqual(["/bin/sh", "/bin/sh"]);
  expect(await realPython("python3", { cwd: folder, env: env() })).toBe("/bin/sh");
  expect(readFileSync(join(folder, "log"), "utf8")).toBe("asked\n");
});

test("returns the shim itself if it fails", async () => {
  shim("#!/bin/sh\nexit 1\n");
  expect(await realPython("python3", { cwd: folder, env: env() })).toBe(join(folder, "python3"));
});

test("runs the shim again for a folder with a version file", async () => {
  shim("#!/bin/sh\nif [ -e .python-version ]; then echo /bin/cat; else echo /bin/sh; fi\n");
  expect(await realPython("python3", { cwd: "/", env: env() })).toBe("/bin/sh");
  writeFileSync(join(folder, ".python-version"), "3.99\n");
  expect(await realPython("python3", { cwd: folder, env: env() })).toBe("/bin/cat");
});
