import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { moduleText, shellText } from "./launcher.ts";

let folder = "";
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard it's-"))));
afterEach(() => rm(folder, { recursive: true, force: true }));

async function place(path: string, text: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

async function linkNode(path: string): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await symlink(process.execPath, join(folder, path));
  return join(folder, path);
}

const SAYS = (what: string): string => `console.log(${JSON.stringify(what)}, process.argv.slice(2).join("|"));`;

describe.runIf(process.platform !== "win32")("the launcher of a POSIX system", () => {
  async function run(places: Parameters<typeof shellText>[0], path = "/usr/bin:/bin"): Promise<string> {
    const file = await place("launcher", shellText(places));
    await chmod(file, 0o700);
    return execFileSync(file, ["serve", "a b", "$HOME"], { env: { PATH: path }, encoding: "utf8" }).trim();
  }

  test("passes its arguments to the stored program, with any characters in the paths", async () => {
    const node = await linkNode("$n od'e/node");
    const program = await place("p'ro gram/main.cjs", SAYS("stored"));
    expect(await run({ node, program, path: "" })).toBe("stored serve|a b|$HOME");
  });

  test("finds Node along the stored PATH after its folder was removed", async () => {
    const node = await linkNode("elsewhere/node");
    const program = await place("main.cjs", SAYS("stored"));
    expect(await run({ node: "/gone/v20.1.0/bin/node", program, path: dirname(node) })).toContain("stored serve");
  });

  test("finds the installed package after the program was removed, such as from the cache of npx", async () => {
    const node = await linkNode("usr/bin/node");
    await place("usr/lib/node_modules/toolyard/dist/cli/main.js", SAYS("installed"));
    expect(await run({ node, program: join(folder, "_npx/1/main.js"), path: "" })).toContain("installed serve");
  });

  test("runs the package by npx again if it was started from the cache of npx, which is empty now", async () => {
    const node = await linkNode("bin/node");
    const npx = await place("bin/npx", '#!/bin/sh\necho "npx $*"\n');
    await chmod(npx, 0o700);
    const said = await run({ node, program: "/gone/_npx/1/main.js", path: dirname(node) }, "/usr/bin-none");
    expect(said).toMatch(/^npx --yes --prefer-offline toolyard@[\d.]+\S* serve a b \$HOME$/);
  });

  test("downloads nothing if the removed program was not from the cache of npx", async () => {
    const node = await linkNode("bin/node");
    const npx = await place("bin/npx", '#!/bin/sh\necho "npx $*"\n');
    await chmod(npx, 0o700);
    await expect(run({ node, program: "/gone/main.js", path: dirname(node) }, "/usr/bin-none")).rejects.toThrow(
      /its files were not found\. Install it, then run `toolyard connect` again\./,
    );
  });
});

test("the launcher for Windows runs the first program that exists, and gives advice if none exists", async () => {
  const program = await place("main.mjs", SAYS("stored"));
  const file = await place("launcher.mjs", moduleText({ program }));
  expect(execFileSync(process.execPath, [file, "serve"], { encoding: "utf8" }).trim()).toBe("stored serve");
  const lost = await place("lost.mjs", moduleText({ program: join(folder, "gone.js") }));
  expect(() => execFileSync(process.execPath, [lost], { env: {}, stdio: "pipe" })).toThrow(
    /run `toolyard connect` again/,
  );
});
