import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { keyOf } from "../../packages/toolyard/src/signin/context.ts";
import type { SignInRecord } from "../../packages/toolyard/src/signin/records.ts";
import { SignInSession } from "../../packages/toolyard/src/signin/session.ts";
import { startAuthServer, startProtected, type AuthServer, type TokenAsked } from "../fixtures/auth-server.ts";
import { sendJson } from "../fixtures/http-servers.ts";
import { echo, Home, noting, says } from "./harness.ts";

const HOUR_MS = 3_600_000;

/** Moves the times of the vault's entries into the past. */
async function age(home: Home, url: string, ms: number): Promise<void> {
  await change(home, url, (record) => ({
    ...record,
    tokens: { ...record.tokens!, obtainedAt: record.tokens!.obtainedAt - ms },
  }));
}

async function change(home: Home, url: string, to: (record: SignInRecord) => SignInRecord): Promise<void> {
  const context = home.context({ url });
  await context.vault.update(keyOf(context), (record) => record && to(record));
}

async function recordOf(home: Home, url: string): Promise<SignInRecord | undefined> {
  const context = home.context({ url });
  return context.vault.find(keyOf(context));
}

function renewals(auth: AuthServer): readonly TokenAsked[] {
  return auth.asked.filter(({ form }) => form.get("grant_type") === "refresh_token");
}

test("200 callers after the expiry of a token cause one token request, and no caller fails", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await age(home, server.url, 2 * HOUR_MS);
  auth.expire();
  const provider = home.open({ url: server.url });
  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => echo(provider, `n${index}`)));
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  expect(renewals(auth)).toHaveLength(1);
});

test("renews a token that a server rejects before its expiry", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const provider = home.open({ url: server.url });
  await echo(provider, "before");
  auth.expire();
  const outcomes = await Promise.all(Array.from({ length: 50 }, (_, index) => echo(provider, `n${index}`)));
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  expect(renewals(auth)).toHaveLength(1);
});

test("renews a token from 80 % of its lifetime while the old one is used", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await age(home, server.url, 0.81 * HOUR_MS);
  auth.switches.before = () => held;
  const provider = home.open({ url: server.url });
  expect(await echo(provider, "old")).toMatchObject(says("old"));
  await expect.poll(() => renewals(auth).length).toBe(1);
  const before = (await recordOf(home, server.url))?.tokens?.access;
  release();
  await expect.poll(async () => (await recordOf(home, server.url))?.tokens?.access).not.toBe(before);
  expect(renewals(auth)).toHaveLength(1);
});

test("keeps a token before 80 % of its lifetime", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await age(home, server.url, 0.79 * HOUR_MS);
  expect(await echo(home.open({ url: server.url }), "in")).toMatchObject(says("in"));
  expect(renewals(auth)).toEqual([]);
});

test("two hubs of one home renew once, and the second uses the first one's token", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await age(home, server.url, 2 * HOUR_MS);
  const providers = [home.open({ url: server.url }), home.open({ url: server.url })];
  const outcomes = await Promise.all(providers.flatMap((one) => [echo(one, "a"), echo(one, "b")]));
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  expect(renewals(auth)).toHaveLength(1);
});

test("two processes of one home renew once, too", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const config = join(home.folder, "toolyard.toml");
  writeFileSync(config, `[[mcp.remote_servers]]\nalias = "far"\nurl = ${JSON.stringify(server.url)}\n`);
  const toolyard = async (...args: string[]): Promise<string> => {
    const main = fileURLToPath(new URL("../../packages/toolyard/dist/cli/main.js", import.meta.url));
    const browser = fileURLToPath(new URL("../conformance/headless-browser.mjs", import.meta.url));
    const env = { ...process.env, TOOLYARD_HOME: home.folder, BROWSER: `${process.execPath} ${browser}` };
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args, "--config", config], { env });
    return stdout;
  };
  auth.switches.lifetime = 0;
  expect(await toolyard("login", "far")).toContain("Signed in to far");
  auth.switches.lifetime = 3600;
  auth.expire();
  const answers = await Promise.all(["one", "two"].map((text) => toolyard("call", "far__echo", `text=${text}`)));
  expect(answers.map((text) => text.trim())).toEqual(["one", "two"]);
  expect(renewals(auth)).toHaveLength(1);
});

test("a sign-out during a renewal ends the sign-in, and the new tokens are revoked", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const provider = home.open({ url: server.url });
  await echo(provider, "in");
  auth.expire();
  auth.switches.answer = (response, ...given) => {
    void home.signOut({ url: server.url }).then(() => sendJson(response, ...given));
  };
  expect(await echo(provider, "out")).toMatchObject({ ok: false, kind: "needs_authorisation" });
  expect((await recordOf(home, server.url))?.tokens).toBeUndefined();
  await expect.poll(() => auth.revoked).toEqual(auth.secrets.filter((secret) => secret.startsWith("r3fresh")));
});

test("a sign-out revokes the tokens that another process has stored meanwhile", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const context = home.context({ url: server.url });
  const { vault } = context;
  const shared = {
    vault: {
      find: vault.find.bind(vault),
      all: vault.all.bind(vault),
      exclusively: vault.exclusively.bind(vault),
      update: async (...[key, to]: Parameters<typeof vault.update>) => {
        await change(home, server.url, (record) => ({ ...record, tokens: { ...record.tokens!, refresh: "renewed" } }));
        return vault.update(key, to);
      },
    },
    issuers: context.issuers,
    version: 1,
  };
  await using other = new Home(shared);
  expect(await other.signOut({ url: server.url })).toEqual({ isRevoked: true });
  expect(auth.revoked).toEqual(["renewed"]);
});

test("a session keeps its renewed token if the vault fails, and stores it when the vault is usable again", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await age(home, server.url, 2 * HOUR_MS);
  const context = home.context({ url: server.url });
  const update = context.vault.update.bind(context.vault);
  let isLost = true;
  context.vault.update = (...given) => (isLost ? Promise.reject(new Error("the store is lost")) : update(...given));
  const lines: string[] = [];
  const logger = noting(lines);
  const session = new SignInSession({ ...context, logger, onSecrets: () => {}, remedy: "" });
  await session.load();
  const sent = { method: "POST", url: new URL(server.url) };
  const { signal } = new AbortController();
  const renewed = { authorization: expect.stringContaining("acc3ss") as string };
  const before = await session.headersFor(sent, signal);
  expect(before).toEqual(renewed);
  expect(lines.join()).toContain("could not be stored");
  await expect(session.load()).rejects.toThrow("lost");
  expect(await session.headersFor(sent, signal)).toEqual(before);
  isLost = false;
  await session.load();
  expect(await session.headersFor(sent, signal)).toEqual(before);
  expect(`Bearer ${(await recordOf(home, server.url))?.tokens?.access}`).toBe(before["authorization"]);
  expect(renewals(auth)).toHaveLength(1);
  await session.close();
});

const page = (response: Parameters<AuthServer["switches"]["instead"]>[1], status: number): true => {
  response.writeHead(status, { "content-type": "text/html" }).end("<h1>Maintenance</h1>");
  return true;
};

test.each([503, 200])(
  "an HTTP %i page instead of a token causes no sign-in: the old token stays in use",
  async (status) => {
    await using auth = await startAuthServer();
    await using server = await startProtected(auth);
    await using home = new Home();
    await home.login({ url: server.url });
    await age(home, server.url, 0.9 * HOUR_MS);
    auth.switches.instead = (_, response) => page(response, status);
    const provider = home.open({ url: server.url });
    expect(await echo(provider, "in")).toMatchObject(says("in"));
    await expect.poll(() => renewals(auth).length).toBe(1);
    expect(await echo(provider, "in")).toMatchObject(says("in"));
    expect(provider.status().state).toBe("ready");
  },
);

test.each([503, 200])(
  "after the expiry of a token, HTTP %i makes the source unavailable, and causes no sign-in",
  async (status) => {
    await using auth = await startAuthServer();
    await using server = await startProtected(auth);
    await using home = new Home();
    await home.login({ url: server.url });
    const provider = home.open({ url: server.url });
    await echo(provider, "in");
    auth.expire();
    auth.switches.instead = (_, response) => page(response, status);
    expect(await echo(provider, "out")).toMatchObject({ ok: false, kind: "unavailable", retryable: true });
    expect((await recordOf(home, server.url))?.tokens?.refresh).toBeDefined();
    auth.switches.instead = () => false;
    await expect.poll(() => echo(provider, "in again"), { timeout: 30_000 }).toMatchObject(says("in again"));
  },
);

test("after `invalid_grant`, logs one request to sign in, keeps the tools, and does not retry renewals", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const lines: string[] = [];
  const provider = home.open({ url: server.url }, { logger: noting(lines) });
  await echo(provider, "in");
  auth.expire();
  auth.switches.instead = (_, response) => {
    sendJson(response, 400, { error: "invalid_grant" });
    return true;
  };
  for (let round = 0; round < 3; round += 1)
    expect(await echo(provider, "out")).toMatchObject({ ok: false, kind: "needs_authorisation" });
  expect(renewals(auth)).toHaveLength(1);
  expect(lines.filter((line) => line.includes("toolyard login far"))).toHaveLength(1);
  expect(provider.status().state).toBe("needs_authorisation");
  expect((await provider.listing()).tools.length).toBeGreaterThan(0);
});

const unknownClient: AuthServer["switches"]["instead"] = (_, response) => {
  sendJson(response, 401, { error: "invalid_client" });
  return true;
};

test("keeps the tokens of a client that is unknown for a moment", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const provider = home.open({ url: server.url });
  await echo(provider, "in");
  auth.expire();
  auth.switches.instead = unknownClient;
  expect(await echo(provider, "out")).toMatchObject({ ok: false, kind: "unavailable" });
  auth.switches.instead = () => false;
  await expect.poll(() => echo(provider, "in"), { timeout: 30_000 }).toMatchObject(says("in"));
  expect(auth.registered).toHaveLength(1);
});

test("removes a client and its tokens if the issuer still does not know it minutes later", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await change(home, server.url, (record) => ({ ...record, unknownSince: Date.now() - 180_000 }));
  const provider = home.open({ url: server.url });
  await echo(provider, "in");
  auth.expire();
  auth.switches.instead = unknownClient;
  expect(await echo(provider, "out")).toMatchObject({ ok: false, kind: "needs_authorisation" });
  expect(await recordOf(home, server.url)).toBeUndefined();
});

test("starts without the issuer while the stored token is valid", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await auth.stop();
  expect(await echo(home.open({ url: server.url }), "in")).toMatchObject(says("in"));
});

test("hides tokens in use from log lines and the status", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const lines: string[] = [];
  const provider = home.open({ url: server.url }, { logger: noting(lines) });
  await echo(provider, "in");
  auth.expire();
  await echo(provider, "again");
  const hidden = [...home.hidden.values()].flat();
  for (const secret of auth.secrets) expect(hidden).toContain(secret);
  const told = [...lines, JSON.stringify(provider.status())].join("\n");
  for (const secret of auth.secrets) expect(told).not.toContain(secret);
  for (const { headers } of server.seen) {
    expect(JSON.stringify({ ...headers, authorization: "" })).not.toMatch(/acc3ss|r3fresh/);
    expect(headers["authorization"] ?? "").not.toContain("r3fresh");
  }
});

test("using a valid token costs a request less than 5 µs of CPU", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const session = new SignInSession({
    ...home.context({ url: server.url }),
    logger: SILENT_LOGGER,
    onSecrets: () => {},
    remedy: "",
  });
  await session.load();
  const sent = { method: "POST", url: new URL(server.url) };
  const { signal } = new AbortController();
  const rounds = 200_000;
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) void session.headersFor(sent, signal);
  const { user, system } = process.cpuUsage(before);
  expect(session.headersFor(sent, signal)).toEqual({ authorization: `Bearer ${auth.secrets[0]}` });
  expect((user + system) / rounds).toBeLessThan(5);
  await session.close();
});
