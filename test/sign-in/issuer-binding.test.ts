// Configured credentials go to one issuer only, even if the MCP server names another one later.
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "smol-toml";
import { loginByDevice } from "../../packages/toolyard/src/signin/device.ts";
import { IssuerBook } from "../../packages/toolyard/src/signin/issuer-book.ts";
import type { RemoteServerConfig } from "../../packages/toolyard/src/providers/http/options.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import { sendJson, startServer } from "../fixtures/http-servers.ts";
import { MAIN } from "../fixtures/served-hub.ts";
import { openTarget } from "../security/attack.ts";
import { echo, Home, says } from "./harness.ts";

type Auth = NonNullable<RemoteServerConfig["auth"]>;

const PEM = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const APP = { client_id: "app", client_secret: "s3cret" };

/** All forms of configured credentials that reach an issuer without a user. */
const MACHINES: Record<string, (idp: string) => Partial<Auth>> = {
  "client_credentials by Basic": () => ({ grant: "client_credentials", ...APP, client_auth: "basic" }),
  "client_credentials in the form": () => ({ grant: "client_credentials", ...APP, client_auth: "post" }),
  "client_credentials by a private key": () => ({ grant: "client_credentials", client_id: "app", private_key: PEM }),
  jwt_bearer: () => ({ grant: "jwt_bearer", assertion: "subj3ct" }),
  "jwt_bearer with a client secret": () => ({ grant: "jwt_bearer", assertion: "subj3ct", ...APP }),
  token_exchange: () => ({ grant: "token_exchange", assertion: "subj3ct" }),
  enterprise: (idp) => ({ grant: "enterprise", ...APP, assertion: "subj3ct", idp_token_url: `${idp}/token` }),
};

/** Starts an MCP server that names a different issuer later. */
async function startMover() {
  const [first, second] = await Promise.all([startAuthServer(), startAuthServer()]);
  // The response of the identity provider is the assertion; issuers accept any.
  const idp = await startServer((_, response) => sendJson(response, 200, { access_token: "subj3ct" }), { path: "" });
  let named = first;
  const server = await startProtected({
    get url() {
      return named.url;
    },
    accepts: (given) => named.accepts(given),
  });
  return {
    first,
    second,
    idp: idp.url,
    url: server.url,
    move: (to: AuthServer = second) => void (named = to),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([first.stop(), second.stop(), server.close(), idp.close()]);
    },
  };
}

const refusal = (first: AuthServer, second: AuthServer): object => ({
  ok: false,
  kind: "needs_authorisation",
  message: expect.stringMatching(
    new RegExp(
      `belong to the issuer "${first.url}", and the server now names the issuer "${second.url}".*` +
        `set \`issuer = "${second.url}"\`.*toolyard vault rm far`,
    ),
  ),
});

test.each(Object.entries(MACHINES))(
  "%s: credentials are not sent to a server's new issuer, even after a restart",
  async (_, authOf) => {
    await using there = await startMover();
    await using home = new Home();
    const config = { url: there.url, auth: { type: "oauth", ...authOf(there.idp) } } as RemoteServerConfig;
    const running = home.open(config);
    expect(await echo(running, "in")).toMatchObject(says("in"));
    there.move();
    expect(await echo(running, "moved")).toMatchObject(refusal(there.first, there.second));
    const restarted = home.open(config);
    await restarted.listing();
    expect(restarted.status()).toMatchObject({ state: "needs_authorisation" });
    expect(restarted.status().lastError).toContain(there.second.url);
    expect(there.second.asked).toEqual([]);
    there.move(there.first);
    expect(await echo(running, "back")).toMatchObject(says("back"));
  },
);

test("without a record, binds the credentials to the issuer that the server names at the first call", async () => {
  await using there = await startMover();
  await using home = new Home();
  there.move();
  const config = { url: there.url, auth: { type: "oauth", grant: "token_exchange", assertion: "subj3ct" } } as const;
  expect(await echo(home.open(config), "in")).toMatchObject(says("in"));
  expect([there.first.asked.length, there.second.asked.length]).toEqual([0, 1]);
});

test.each<[string, (home: Home, to: AuthServer) => Promise<Partial<Auth>>]>([
  ["a configured `issuer`", async (_, { url }) => ({ issuer: url })],
  [
    "a removed record",
    async (home) => {
      expect(await new IssuerBook(home.folder).forget("far")).toBe(1);
      return {};
    },
  ],
])("%s allows the credentials for the new issuer", async (_, change) => {
  await using there = await startMover();
  await using home = new Home();
  const auth = { type: "oauth", grant: "client_credentials", ...APP } as const;
  expect(await echo(home.open({ url: there.url, auth }), "in")).toMatchObject(says("in"));
  there.move();
  const changed = { ...auth, ...(await change(home, there.second)) };
  expect(await echo(home.open({ url: there.url, auth: changed }), "moved")).toMatchObject(says("moved"));
});

test("an impostor with the configured issuer's name receives no credentials", async () => {
  await using there = await startMover();
  await using home = new Home();
  there.second.switches.issuer = there.first.url;
  there.move();
  const auth = { type: "oauth", grant: "client_credentials", ...APP, issuer: there.first.url } as const;
  const provider = home.open({ url: there.url, auth });
  await provider.listing();
  expect([there.first.asked.length > 0, there.second.asked.length]).toEqual([true, 0]);
});

test("binds credentials to the address of an issuer's metadata if it differs from the issuer's name", async () => {
  await using there = await startMover();
  await using home = new Home();
  await using silent = await startServer((_, response) => sendJson(response, 404, {}), { path: "" });
  for (const { switches } of [there.first, there.second]) switches.issuer = silent.url;
  const auth = { type: "oauth", grant: "client_credentials", ...APP, issuer: silent.url } as const;
  const provider = home.open({ url: there.url, auth });
  expect(await echo(provider, "in")).toMatchObject(says("in"));
  there.move();
  const message = expect.stringContaining(
    `described at "${there.first.url}", and the server now names "${there.second.url}"`,
  );
  expect(await echo(provider, "moved")).toMatchObject({ ok: false, kind: "needs_authorisation", message });
  expect(there.second.asked).toEqual([]);
});

test("two hubs that concurrently find different issuers send credentials to one of them", async () => {
  await using first = await startAuthServer();
  await using second = await startAuthServer();
  let turn = 0;
  await using server = await startProtected({
    get url() {
      turn += 1;
      return turn % 2 === 1 ? first.url : second.url;
    },
    accepts: () => false,
  });
  await using home = new Home();
  const auth = { type: "oauth", grant: "client_credentials", ...APP } as const;
  const hubs = Array.from({ length: 6 }, () => home.open({ url: server.url, auth }));
  await Promise.all(hubs.map((hub) => hub.listing()));
  const asked = [first, second].map((one) => one.asked.length > 0);
  expect(turn).toBeGreaterThan(5);
  expect(asked.filter(Boolean)).toEqual([true]);
});

test.each<[string, (home: Home, url: string) => Promise<unknown>]>([
  ["in a browser", (home, url) => home.login({ url, auth: { type: "oauth", ...APP } })],
  [
    "by a device",
    (home, url) =>
      loginByDevice(home.context({ url, auth: { type: "oauth", ...APP } }), {
        show: () => Promise.resolve(),
        signal: AbortSignal.timeout(30_000),
      }),
  ],
  [
    "as another principal",
    (home, url) => home.login({ url, credentials: "per-caller", auth: { type: "oauth", ...APP } }, { as: "ben" }),
  ],
])("the next sign-in %s does not use the client at a new issuer", async (_, signIn) => {
  await using there = await startMover();
  for (const { switches, url } of [there.first, there.second])
    Object.assign(switches, { isApproved: true, metadata: { device_authorization_endpoint: `${url}/device` } });
  await using home = new Home();
  await signIn(home, there.url);
  there.move();
  await expect(signIn(home, there.url)).rejects.toThrow(`now names the issuer "${there.second.url}"`);
  expect([there.second.asked, there.second.authorized]).toEqual([[], []]);
  there.move(there.first);
  await signIn(home, there.url);
});

test("binds the client of a sign-in from before issuers were recorded", async () => {
  await using there = await startMover();
  await using home = new Home();
  const config = { url: there.url, auth: { type: "oauth", ...APP } } as const;
  await home.login(config);
  rmSync(join(home.folder, "issuers.json"));
  there.move();
  await expect(home.login(config)).rejects.toThrow(`now names the issuer "${there.second.url}"`);
});

test("a sign-in without configured credentials uses the new issuer, and registers a new client there", async () => {
  await using there = await startMover();
  await using home = new Home();
  await home.login({ url: there.url });
  there.move();
  expect((await home.login({ url: there.url })).server.issuer).toBe(there.second.url);
});

test.each<[string, (path: string) => void]>([
  ["is damaged", (path) => writeFileSync(path, "{")],
  ["is a folder", (path) => mkdirSync(path)],
])("a record that %s prevents sending the credentials", async (_, spoil) => {
  await using there = await startMover();
  await using home = new Home();
  spoil(join(home.folder, "issuers.json"));
  const auth = { type: "oauth", grant: "client_credentials", ...APP } as const;
  const provider = home.open({ url: there.url, auth });
  await provider.listing();
  expect(provider.status().lastError).toMatch(/`issuers\.json` in the vault's folder/);
  expect(there.first.asked).toEqual([]);
});

test.each([0, 2])("a hub with %i workers names both issuers to a caller, and sends nothing", async (workers) => {
  await using there = await startMover();
  const far = {
    alias: "far",
    url: there.url,
    auth: { type: "oauth" as const, grant: "client_credentials" as const, ...APP },
  };
  await using hub = await openTarget({
    server: { ...(workers > 0 && { workers }) },
    mcp: { remote_servers: [far] },
    builtin: { execute_code: false },
  });
  await expect.poll(() => hub.hub.call("far__echo", { text: "in" }), { timeout: 30_000 }).toMatchObject({ ok: true });
  there.move();
  for (const era of ["legacy", "modern"] as const) {
    const client = await hub.client(undefined, { era });
    const said = JSON.stringify(await client.tool("far__echo", { text: "moved" }));
    for (const { url } of [there.first, there.second]) expect(said).toContain(url);
  }
  expect(there.second.asked).toEqual([]);
});

test("the command line refuses a new issuer, lists the bound one, and removes it on request", async () => {
  await using there = await startMover();
  await using home = new Home();
  const config = join(home.folder, "toolyard.toml");
  const auth = { type: "oauth", grant: "client_credentials", ...APP };
  writeFileSync(config, stringify({ mcp: { remote_servers: [{ alias: "far", url: there.url, auth }] } }));
  const env = { ...process.env, TOOLYARD_HOME: home.folder, NO_COLOR: "1" };
  const toolyard = (...args: string[]): Promise<{ code: number; said: string }> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [MAIN, ...args, "--config", config], { env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
      );
    });
  const call = ["call", "far__echo", "text=in"];
  expect(await toolyard(...call)).toMatchObject({ code: 0 });
  expect((await toolyard("vault", "list")).said).toMatch(/far +\S* *http:\S+ +credentials bound/);
  there.move();
  const refused = await toolyard(...call);
  expect([refused.code, refused.said]).toEqual([4, expect.stringContaining(there.second.url)]);
  expect(await toolyard("vault", "rm", "far")).toMatchObject({ code: 0 });
  expect(await toolyard(...call)).toMatchObject({ code: 0 });
});
