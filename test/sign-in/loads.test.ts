import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { startLegacy } from "../fixtures/http-servers.ts";
import { Home } from "./harness.ts";

const MACHINERY = /\/node_modules\/oauth4webapi\/|\/dist\/signin\/(?!vault-place|records|challenge)/;

async function toolyard(home: Home, url: string, args: readonly string[]): Promise<string> {
  const config = join(home.folder, "toolyard.toml");
  writeFileSync(config, `[[mcp.remote_servers]]\nalias = "far"\nurl = ${JSON.stringify(url)}\n`);
  const hook = new URL("../../bench/lib/trace-loads.mjs", import.meta.url).href;
  const [main, browser] = ["../../packages/toolyard/dist/cli/main.js", "../conformance/headless-browser.mjs"].map(
    (path) => fileURLToPath(new URL(path, import.meta.url)),
  );
  const own = { TOOLYARD_HOME: home.folder, BROWSER: `${process.execPath} ${browser}`, NODE_NO_WARNINGS: "1" };
  const all = ["--import", hook, main!, ...args, "--config", config];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, all, { env: { ...process.env, ...own } });
  return `${stdout}${stderr}`;
}

test("loads no sign-in code for servers that require no sign-in", async () => {
  await using server = await startLegacy();
  await using home = new Home();
  const output = await toolyard(home, server.url, ["call", "far__echo", "text=plain"]);
  expect(output).toContain("plain");
  expect(output.split("\n").filter((line) => line.startsWith("loads ") && MACHINERY.test(line))).toEqual([]);
});

test("loads sign-in code for a signed-in server", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await toolyard(home, server.url, ["login", "far"]);
  const output = await toolyard(home, server.url, ["call", "far__echo", "text=signed"]);
  expect(output).toContain("signed");
  expect(output).toMatch(MACHINERY);
  for (const secret of auth.secrets) expect(output).not.toContain(secret);
});
