import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBrowser, openBrowserSecretly } from "./open-browser.ts";

const ADDRESS = "https://auth.example/authorize?a=1&b=$(touch x);`touch y`";
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-browser-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Creates a browser that records its arguments. */
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

test("passes the address to BROWSER as one argument, without a shell", async () => {
  const { command, told } = browser();
  expect(await openBrowser(ADDRESS, { BROWSER: command })).toBe(true);
  await expect.poll(told).toBe(JSON.stringify([ADDRESS]));
});

test("puts the address at the placeholder in BROWSER", async () => {
  const { command, told } = browser();
  expect(await openBrowser(ADDRESS, { BROWSER: `${command} --url=%s --new` })).toBe(true);
  await expect.poll(told).toBe(JSON.stringify([`--url=${ADDRESS}`, "--new"]));
});

test.each(["file:///etc/passwd", "javascript:alert(1)", "vscode://x"])("opens no browser for %s", async (address) => {
  const { command } = browser();
  expect(await openBrowser(address, { BROWSER: command })).toBe(false);
});

test("returns false without a display, and if the browser does not exist", async () => {
  expect(await openBrowser(ADDRESS, {}, "linux")).toBe(false);
  expect(await openBrowser(ADDRESS, { BROWSER: join(folder, "missing") })).toBe(false);
});

const SECRET_ADDRESS = 'https://hub.example/console/#code=abc&"<x>';

test("passes a file instead of an address with a secret, and the file leads to the address", async () => {
  const { command, told } = browser();
  const place = join(folder, "open");
  expect(await openBrowserSecretly(SECRET_ADDRESS, { folder: place, variables: { BROWSER: command } })).toBe(true);
  await expect.poll(told).toMatch(/^\["file:\/\/\/.*\/open\/open-[0-9a-f]{16}\.html"\]$/);
  const [name] = readdirSync(place);
  expect(readFileSync(join(place, name!), "utf8")).toContain(
    'content="0; url=https://hub.example/console/#code=abc&amp;&quot;&lt;x>"',
  );
});

test("passes a Windows browser the address of the file on the network share of the Linux distribution", async () => {
  const { command, told } = browser();
  const variables = { BROWSER: command, WSL_DISTRO_NAME: "Debian 12" };
  expect(await openBrowserSecretly(SECRET_ADDRESS, { folder: join(folder, "open"), variables })).toBe(true);
  await expect.poll(told).toMatch(/^\["file:\/\/wsl\.localhost\/Debian%2012\/.*\.html"\]$/);
});

test.each([
  ["without a browser", SECRET_ADDRESS, {}],
  ["for a browser that does not exist", SECRET_ADDRESS, { BROWSER: "/no/such/browser" }],
  ["for an address that is not of the web", "file:///etc/passwd#x", { BROWSER: "true" }],
])("leaves no file %s", async (_name, address, variables) => {
  const place = join(folder, "open");
  expect(await openBrowserSecretly(address, { folder: place, variables, platform: "linux" })).toBe(false);
  expect(existsSync(place) ? readdirSync(place) : []).toEqual([]);
});
