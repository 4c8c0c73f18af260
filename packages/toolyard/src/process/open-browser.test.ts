import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBrowser } from "./open-browser.ts";

const ADDRESS = "https://auth.example/authorize?a=1&b=$(touch x);`touch y`";
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-browser-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes its arguments down. */
function browser(): { readonly command: string; readonly told: () => string } {
  const [program, file] = [join(folder, "browser.mjs"), join(folder, "told")];
  const lines = [
    'import { renameSync, writeFileSync } from "node:fs";',
    `const file = ${JSON.stringify(file)};`,
    'writeFileSync(file + ".tmp", JSON.stringify(process.argv.slice(2)));',
    'renameSync(file + ".tmp", file);',
  ];
  writeFileSync(program, lines.join("\n"));
  const told = (): string => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "";
    }
  };
  return { command: `${process.execPath} ${program}`, told };
}

test("BROWSER gets the address as one argument, and no shell sees it", async () => {
  const { command, told } = browser();
  expect(await openBrowser(ADDRESS, { BROWSER: command })).toBe(true);
  await expect.poll(told).toBe(JSON.stringify([ADDRESS]));
});

test("or in the place that it names", async () => {
  const { command, told } = browser();
  expect(await openBrowser(ADDRESS, { BROWSER: `${command} --url=%s --new` })).toBe(true);
  await expect.poll(told).toBe(JSON.stringify([`--url=${ADDRESS}`, "--new"]));
});

test.each(["file:///etc/passwd", "javascript:alert(1)", "vscode://x"])("%s goes to no browser", async (address) => {
  const { command } = browser();
  expect(await openBrowser(address, { BROWSER: command })).toBe(false);
});

test("without a display there is none, and one that is not there is none", async () => {
  expect(await openBrowser(ADDRESS, {}, "linux")).toBe(false);
  expect(await openBrowser(ADDRESS, { BROWSER: join(folder, "missing") })).toBe(false);
});
