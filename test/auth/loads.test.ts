// Modules that a hub loads, by its ways to authenticate callers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAIN } from "../fixtures/served-hub.ts";
import { KeyIssuer } from "./key-issuer.ts";

const TOKEN = "a-token-of-at-least-16-characters";
const LIBRARY = /\/node_modules\/oidc-provider\//;
/** The code of the authorization server, without its options, which the check of every configuration needs. */
const SERVER = /\/dist\/auth\/builtin\/(?!options\.|federation\/options\.|auth-server-handle\.)/;
const PAGES = /\/dist\/endpoints\/auth\/(auth-endpoint|pages|device-pages)/;
/** Code of the state in a store, without the options of the store, which every configuration is checked against. */
const STORE = /\/dist\/(state\/redis\/(?!kind\.|options\.)|core\/shared-key)/;
const JOSE = /\/jose\//;

const isAnyOf =
  (...parts: readonly RegExp[]) =>
  (line: string): boolean =>
    parts.some((part) => part.test(line));

/** Serves a hub, lists its tools with the token, and resolves with the status and the loaded modules. */
async function loadsWith(
  auth: string,
  token: string,
): Promise<{ readonly status: number; readonly loads: readonly string[] }> {
  const home = await mkdtemp(join(tmpdir(), "toolyard-loads-"));
  const config = join(home, "toolyard.toml");
  await writeFile(config, `[server]\nport = 0\n${auth}`);
  const hook = new URL("../../bench/lib/trace-loads.mjs", import.meta.url).href;
  const args = ["--import", hook, MAIN, "serve", "--config", config];
  const child = spawn(process.execPath, args, { env: { ...process.env, TOOLYARD_HOME: home }, cwd: home });
  const closed = once(child, "close");
  let output = "";
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.on("exit", () => reject(new Error(output)));
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on("line", (line) => {
          output += `${line}\n`;
          const found = /(http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
          if (found !== undefined) resolve(found);
        });
    });
    const { status } = await fetch(`${url}/api/tools`, { headers: { authorization: `Bearer ${token}` } });
    await fetch(`${url}/authorize`).then((answer) => answer.text());
    return { status, loads: output.split("\n").filter((line) => line.startsWith("loads ")) };
  } finally {
    child.kill();
    await closed;
    await rm(home, { recursive: true, force: true, maxRetries: 20 });
  }
}

test("a hub with static tokens loads no part of OAuth", async () => {
  const { status, loads } = await loadsWith(`token = "${TOKEN}"\n`, TOKEN);
  expect(status).toBe(200);
  expect(loads).not.toEqual([]);
  expect(loads.filter(isAnyOf(LIBRARY, SERVER, PAGES, JOSE))).toEqual([]);
}, 60_000);

test("a hub with an identity provider verifies signatures and loads no authorization server", async () => {
  await using issuer = await KeyIssuer.start();
  const auth = `[auth]\nmodes = ["issuer"]\naudience = ["hub"]\nissuer = { url = "${issuer.url}" }\n`;
  const { status, loads } = await loadsWith(auth, await issuer.sign("hub"));
  expect(status).toBe(200);
  expect(loads.filter(isAnyOf(JOSE))).not.toEqual([]);
  expect(loads.filter(isAnyOf(LIBRARY, SERVER, PAGES))).toEqual([]);
}, 60_000);

test("a hub with its own authorization server loads it, and without a store nothing of the store's state", async () => {
  const { status, loads } = await loadsWith('[auth]\nmodes = ["builtin"]\n', "unknown");
  expect(status).toBe(401);
  for (const part of [LIBRARY, SERVER, PAGES]) expect(loads.filter(isAnyOf(part))).not.toEqual([]);
  expect(loads.filter(isAnyOf(STORE))).toEqual([]);
}, 60_000);
