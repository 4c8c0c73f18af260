// The suite's scenarios for authorization servers, against a hub with `auth.modes = ["builtin"]`. The user at the
// browser is a few requests: sign in, allow, and follow the redirect to the suite.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.mjs";

const USER = "ann";
/** The suite waits without limit for a sign-in that fails. */
const RUN_MS = 120_000;

/** Runs the scenarios. Resolves with the row of the report. */
export async function runAuthorizationServer({ work, toolyard, tools, startHub, children }) {
  const env = { ...process.env, TOOLYARD_HOME: join(work, "home") };
  const config = join(work, "builtin.toml");
  writeFileSync(config, '[auth]\nmodes = ["builtin"]\n');
  const added = spawnSync(process.execPath, [toolyard, "user", "add", USER, "--json"], { env, encoding: "utf8" });
  const { password } = JSON.parse(added.stdout);
  const { url, child: hub } = await startHub(config);
  const issuer = new URL(url).origin;
  const port = await freePort();
  const client = await register(issuer, port);
  const args = [
    "authorization",
    "--url",
    issuer,
    "--client-id",
    client,
    "--resource",
    `${issuer}/mcp`,
    "-p",
    String(port),
  ];
  const child = spawn(tools.node, [tools.conformance, ...args], {
    cwd: work,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_MS,
  });
  children.add(child);
  const closed = once(child, "close");
  const lines = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith(`${issuer}/authorize?`)) await signIn(line.trim(), password);
  }
  const [code] = await closed;
  children.delete(child);
  hub.kill();
  const scenarios = lines.flatMap((line) => {
    const [, scenario, passed, failed] = /^\S+ ([a-z-]+): (\d+) passed, (\d+) failed/.exec(line) ?? [];
    return scenario
      ? [{ scenario, passed: Number(passed), failed: Number(failed), scored: true, expected: false }]
      : [];
  });
  const ok = code === 0 && scenarios.length > 0 && scenarios.every(({ failed }) => failed === 0);
  return [{ name: "authorization server", ok, scenarios, detail: lines.join("\n") }];
}

async function register(issuer, port) {
  const answer = await fetch(`${issuer}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "conformance", redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  return (await answer.json()).client_id;
}

async function signIn(address, password) {
  const cookies = new Map();
  const login = await visit(address, cookies);
  const consent = await send(login, { action: "login", user: USER, password }, cookies);
  await send(consent, { action: "allow" }, cookies);
}

function send({ url, text }, values, cookies) {
  const csrf = /name="csrf" value="([^"]*)"/.exec(text)[1];
  return visit(url, cookies, { method: "POST", body: new URLSearchParams({ csrf, ...values }) });
}

/** Follows redirects, with cookies. */
async function visit(address, cookies, init = {}) {
  const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(address, { ...init, redirect: "manual", headers: { cookie } });
  for (const one of answer.headers.getSetCookie()) {
    const [pair] = one.split(";");
    cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
  }
  const location = answer.headers.get("location");
  if (location) return visit(new URL(location, address).href, cookies);
  return { url: address, text: await answer.text() };
}
