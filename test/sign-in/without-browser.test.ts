// Sign-ins without a browser on this machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { situationOf } from "../../packages/toolyard/src/signin/prepared-sign-in.ts";
import { loginByDevice } from "../../packages/toolyard/src/signin/device.ts";
import { handOver, handoverPlace } from "../../packages/toolyard/src/signin/handover.ts";
import { login } from "../../packages/toolyard/src/signin/login.ts";
import { startAuthServer, startProtected, type AuthServer, type Switches } from "../fixtures/auth-server.ts";
import { MAIN } from "../fixtures/served-hub.ts";
import { dataFolder } from "../../packages/toolyard/src/core/data-folder.ts";
import { vaultFolder } from "../../packages/toolyard/src/signin/vault-place.ts";
import { echo, Home, says } from "./harness.ts";

test("a code entered on another device signs in, without a redirect to this machine", async () => {
  await using auth = await startAuthServer();
  auth.switches.metadata = { device_authorization_endpoint: `${auth.url}/device` };
  await using server = await startProtected(auth);
  await using home = new Home();
  const shown: object[] = [];
  await loginByDevice(home.context({ url: server.url }), {
    show: async (one) => {
      shown.push(one);
      setTimeout(() => (auth.switches.isApproved = true), 120);
    },
    signal: AbortSignal.timeout(30_000),
  });
  expect(shown).toEqual([{ address: `${auth.url}/activate`, code: "WDJB-MJHT" }]);
  expect(auth.registered[0]!["grant_types"]).toContain("urn:ietf:params:oauth:grant-type:device_code");
  expect(auth.asked.at(-1)!.form.get("resource")).toBe(server.url);
  expect(await echo(home.open({ url: server.url }), "in")).toMatchObject(says("in"));
});

test.each<[string, Record<string, string>, RegExp]>([
  ["without such codes", {}, /does not offer that/],
  ["whose page is no web address", { device_authorization_endpoint: "file:///x" }, /https/],
])("reports a server %s", async (_, metadata, words) => {
  await using auth = await startAuthServer({ metadata });
  await using server = await startProtected(auth);
  await using home = new Home();
  const ports = { show: () => Promise.resolve(), signal: AbortSignal.timeout(30_000) };
  await expect(loginByDevice(home.context({ url: server.url }), ports)).rejects.toThrow(words);
  expect(auth.asked).toEqual([]);
});

const refuse =
  (...errors: readonly string[]): AuthServer["switches"]["refuses"] =>
  (where) => {
    if (where !== "token") return undefined;
    const [error, ...rest] = errors;
    errors = rest;
    return error;
  };

/** Simulates a device that waits as requested, without real time. */
async function withDevice(changes: Partial<Switches>): Promise<{ readonly waits: number[]; readonly end: unknown }> {
  await using auth = await startAuthServer();
  const metadata = { device_authorization_endpoint: `${auth.url}/device` };
  Object.assign(auth.switches, { isApproved: true, metadata, ...changes });
  await using server = await startProtected(auth);
  await using home = new Home();
  const waits: number[] = [];
  const pause = async (ms: number): Promise<void> => void waits.push(ms);
  const ports = { show: () => Promise.resolve(), pause, signal: AbortSignal.timeout(30_000) };
  const end = await loginByDevice(home.context({ url: server.url }), ports).then(
    ({ source }) => source,
    (error: Error) => error.message,
  );
  return { waits, end };
}

test("polls five seconds later each time that the issuer requests to slow down", async () => {
  const told = await withDevice({ refuses: refuse("authorization_pending", "slow_down", "slow_down") });
  expect(told).toEqual({ waits: [50, 50, 5050, 10_050], end: "far" });
});

test.each(["access_denied", "expired_token"])(
  "a device without consent in time (%s) ends immediately",
  async (error) => {
    const { waits, end } = await withDevice({ refuses: refuse("authorization_pending", error) });
    expect([waits.length, end]).toEqual([2, expect.stringContaining(`answered ${error}. Start again.`)]);
  },
);

test("an unused code expires", async () => {
  const { end } = await withDevice({ isApproved: false, deviceLifetime: 0.2 });
  expect(end).toMatch(/the code expired unused/);
});

test("the command shows address and code, and ends after the code was entered", async () => {
  await using auth = await startAuthServer();
  auth.switches.metadata = { device_authorization_endpoint: `${auth.url}/device` };
  await using server = await startProtected(auth);
  await using home = new Home();
  const config = join(home.folder, "toolyard.toml");
  writeFileSync(config, `[[mcp.remote_servers]]\nalias = "far"\nurl = ${JSON.stringify(server.url)}\n`);
  const env = { ...process.env, TOOLYARD_HOME: home.folder };
  const child = spawn(process.execPath, [MAIN, "login", "far", "--device", "--config", config], { env });
  let [said, told] = ["", ""];
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  child.stderr.on("data", (chunk) => {
    told += String(chunk);
    if (told.includes("WDJB-MJHT")) auth.switches.isApproved = true;
  });
  expect((await once(child, "close"))[0]).toBe(0);
  expect(told).toContain(`give the code WDJB-MJHT there:\n\n${auth.url}/activate`);
  expect(said).toContain(`Signed in to far by ${auth.url}.`);
});

test.each([[[]], [["--json"]]])("`login --no-browser %j` waits for a running hub, without a terminal", async (more) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const config = join(home.folder, "toolyard.toml");
  const far = `[[mcp.remote_servers]]\nalias = "far"\nurl = ${JSON.stringify(server.url)}\n`;
  writeFileSync(config, `[server]\npublic_url = "https://hub.example.com"\n${far}`);
  const env = { ...process.env, TOOLYARD_HOME: home.folder };
  const args = [MAIN, "login", "far", "--no-browser", "--config", config, ...more];
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  let [said, told] = ["", ""];
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  child.stderr.on("data", (chunk) => (told += String(chunk)));
  await expect.poll(() => told, { timeout: 30_000 }).toContain(`${auth.url}/authorize`);
  const address = /http:\/\/[^\s"]+\/authorize[^\s"]+/.exec(told)![0];
  const back = (await fetch(address, { redirect: "manual" })).headers.get("location")!;
  expect(await handOver(vaultFolder(dataFolder(env)), new URL(back).searchParams)).toBe(true);
  expect([(await ended)[0], told]).toEqual([0, expect.not.stringContaining("unsettled")]);
  expect(said).toContain(auth.url);
});

test("a running hub accepts the browser's return for a waiting command, and nothing else", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const signal = AbortSignal.timeout(30_000);
  const taken: boolean[] = [];
  const record = await login(home.context({ url: server.url }), {
    comesBack: handoverPlace(home.folder, "https://hub.example.com", signal),
    show: async (address) => {
      const back = (await fetch(address, { redirect: "manual" })).headers.get("location")!;
      const query = new URL(back).searchParams;
      const stray = new URLSearchParams({ code: "stolen", state: "foreign" });
      taken.push(await handOver(home.folder, stray), await handOver(home.folder, query));
      taken.push(await handOver(home.folder, query));
    },
    signal,
  });
  expect(taken).toEqual([false, true, false]);
  expect(record.client.redirectUri).toBe("https://hub.example.com/oauth/callback");
  expect(auth.asked).toHaveLength(1);
});

test("a hub with an https address identifies itself by a document, if the server accepts documents", async () => {
  await using auth = await startAuthServer({ metadata: { client_id_metadata_document_supported: true } });
  await using server = await startProtected(auth);
  await using home = new Home();
  const show = async (address: string): Promise<void> => {
    const back = (await fetch(address, { redirect: "manual" })).headers.get("location")!;
    await handOver(home.folder, new URL(back).searchParams);
  };
  const signal = AbortSignal.timeout(30_000);
  const comesBack = handoverPlace(home.folder, "https://hub.example.com", signal);
  const { client } = await login(home.context({ url: server.url }), { comesBack, show, signal });
  expect(client).toMatchObject({ from: "document", id: "https://hub.example.com/oauth/client.json" });
  expect(auth.registered).toEqual([]);
});

test("exchanges a token of another issuer for one of the server's issuer", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const given = { grant: "token_exchange", assertion: "subj3ct", subject_token_type: "jwt", audience: "mcp" } as const;
  expect(await echo(home.open({ url: server.url, auth: { type: "oauth", ...given } }), "in")).toMatchObject(says("in"));
  expect(Object.fromEntries(auth.asked[0]!.form)).toMatchObject({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    audience: "mcp",
    resource: server.url,
  });
});

test("a token that the issuer rejects is sent nowhere else, and appears nowhere", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = home.open({
    url: server.url,
    auth: { type: "oauth", grant: "token_exchange", assertion: "f0reign" },
  });
  await provider.listing();
  expect(provider.status()).toMatchObject({
    state: "needs_authorisation",
    lastError: expect.stringContaining("invalid"),
  });
  expect(JSON.stringify(provider.status())).not.toContain("f0reign");
});

test("users of one source use one client at its issuer", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const config = { url: server.url, credentials: "per-caller" } as const;
  await home.login(config, { as: "ann" });
  await home.login(config, { as: "ben" });
  expect(auth.registered).toHaveLength(1);
  expect((await situationOf(home.context(config, "eve"), undefined)).client?.id).toBe("client-1");
});
