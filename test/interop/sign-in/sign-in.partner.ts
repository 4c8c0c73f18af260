// Sign-in with independent partners on both ends: `oidc-provider` issues the tokens, and servers of two SDKs require
// them. `npm run partners -- sign-in` sets `PYTHON` to an interpreter with the Python SDK, if there is one.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { keyOf } from "../../../packages/toolyard/src/signin/context.ts";
import { startBrowsers, type Browser, type Browsers } from "../../sign-in/browser.ts";
import { echo, Home } from "../../sign-in/harness.ts";

const python = process.env["PYTHON"] ?? "";
const SERVERS: Readonly<Record<string, readonly [string, string]>> = {
  "requireBearerAuth of the TypeScript SDK": [process.execPath, "guarded.mjs"],
  ...(python !== "" && { "the Python SDK's protected server": [python, "guarded.py"] as const }),
};

const children: ChildProcess[] = [];
let browsers: Browsers;
let issuer: string;

beforeAll(async () => {
  browsers = await startBrowsers();
  issuer = await start(process.execPath, "issuer.mjs");
});

afterAll(async () => {
  await browsers[Symbol.asyncDispose]();
  await Promise.all(
    children.map(async (child) => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }),
  );
});

/** Starts a partner and returns its address. */
async function start(command: string, file: string, ...args: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(command, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("url ")) continue;
    const url = line.slice(4);
    // Some partners print their address before they listen.
    await vi.waitFor(() => fetch(url), { timeout: 30_000 });
    return url;
  }
  throw new Error(`${file} ended before it listened.`);
}

const through =
  (browser: Browser) =>
  async (address: string): Promise<void> => {
    const { text } = await browser.visit(address, { login: "ann", password: "any" });
    expect(text).toContain("Signed in to far.");
  };

async function tokenIn(home: Home, url: string): Promise<string | undefined> {
  const context = home.context({ url });
  return (await context.vault.find(keyOf(context)))?.tokens?.access;
}

test.each(Object.entries(SERVERS))(
  "%s: after one sign-in, 50 concurrent calls of two hubs renew the token once",
  async (_, how) => {
    const url = await start(...how, issuer);
    await using home = new Home();
    const record = await home.login({ url }, through(await browsers.open()));
    expect(record).toMatchObject({ resource: url, server: { issuer }, scopes: expect.arrayContaining(["tools"]) });
    const provider = home.open({ url });
    expect(await echo(provider, "in")).toMatchObject({ ok: true });
    const first = await tokenIn(home, url);
    const context = home.context({ url });
    await context.vault.update(keyOf(context), (now) => ({
      ...now!,
      tokens: { ...now!.tokens!, obtainedAt: now!.tokens!.obtainedAt - 7_200_000 },
    }));
    const late = [home.open({ url }), home.open({ url })];
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_unused, at) => echo(late[at % 2]!, `n${at}`)));
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
    const second = await tokenIn(home, url);
    expect(second).not.toBe(first);
    // If both hubs had used the refresh token, the issuer would have revoked its family.
    expect(await echo(late[0]!, "after")).toMatchObject({ ok: true });
  },
);

test.each(Object.entries(SERVERS))("%s: refuses a token for another server", async (_, how) => {
  const [url, other] = [await start(...how, issuer), await start(...how, issuer)];
  await using home = new Home();
  await home.login({ url }, through(await browsers.open()));
  const token = await tokenIn(home, url);
  const ask = async (address: string): Promise<number> =>
    (await fetch(address, { method: "POST", body: "{}", headers: { authorization: `Bearer ${token}` } })).status;
  expect([await ask(url), await ask(other)]).toEqual([expect.not.toBeOneOf([401, 403]), 401]);
});
