// Several hubs with their own sign-in (`builtin`) and one store are one authorization server: each step of a sign-in is
// sent to another hub, as by a load balancer without affinity.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import {
  authorizationOf,
  clientOf,
  PASSWORD,
  redeem,
  refresh,
  register,
  signIn,
  tokenRequest,
  tokensFor,
  Visitor,
  type AuthorizationRequest,
  type Tokens,
} from "../auth/builtin-yard.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import { HAS_REDIS, RedisServer } from "../support/redis-server.ts";
import { RedisCluster } from "./redis-deployments.ts";
import { Cluster, type HubProcess } from "./hub-process.ts";

/** Address of the load balancer. No program listens there; the tests send each request to a hub. */
const PUBLIC_URL = "http://127.0.0.1:9";
const KEY = { TOOLYARD_VAULT_KEY: randomBytes(32).toString("base64") };
const CONFIG = { server: { public_url: PUBLIC_URL }, auth: { modes: ["builtin"] } };
const WAIT = { timeout: 20_000, interval: 50 };
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** The hubs as one, with the interface of a single hub. Each request goes to the next hub that runs. */
class LoadBalancer {
  readonly served = { address: { url: PUBLIC_URL } };
  readonly hubs: readonly HubProcess[];
  /** Hubs that received a request, in order. */
  readonly used: number[] = [];
  #at = -1;

  constructor(hubs: readonly HubProcess[]) {
    this.hubs = hubs;
  }

  get asToy(): ToyHub {
    return this as unknown as ToyHub;
  }

  outside(url: URL, init: RequestInit): Promise<Response> {
    return this.fetch(`${url.pathname}${url.search}`, init);
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    do this.#at = (this.#at + 1) % this.hubs.length;
    while (this.hubs[this.#at]!.pid === undefined);
    this.used.push(this.#at);
    return fetch(`${this.hubs[this.#at]!.url}${path}`, { redirect: "manual", ...init });
  }
}

/** Returns the status of a call with a token at one hub. */
async function statusAt(hub: HubProcess, token = ""): Promise<number> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return (await fetch(`${hub.url}/api/tools/meta.ping`, { method: "POST", headers, body: "{}" })).status;
}

function statuses(hubs: readonly HubProcess[], token = ""): Promise<readonly number[]> {
  return Promise.all(hubs.map((hub) => statusAt(hub, token)));
}

async function addUser(hub: HubProcess, name: string): Promise<void> {
  const { code, output } = await hub.run(["user", "add", name, "--password-stdin"], PASSWORD);
  if (code !== 0) throw new Error(output);
}

/** Signs in, and returns the code and its verifier. */
async function codeFor(toy: ToyHub, client: string): Promise<AuthorizationRequest & { readonly code: string }> {
  const request = authorizationOf(toy, client);
  const code = (await signIn(toy, request)).searchParams.get("code") ?? "";
  return { ...request, code };
}

function isIssued({ access_token: token }: Tokens): boolean {
  return token !== undefined;
}

let redis: RedisServer;
let cluster: Cluster;
let balanced: LoadBalancer;
let toy: ToyHub;

beforeAll(async () => {
  if (!HAS_REDIS) return;
  redis = await RedisServer.start({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
  cluster = await Cluster.start({ hubs: 3, store: { url: redis.url, prefix: "s:" }, config: CONFIG, env: KEY });
  balanced = new LoadBalancer(cluster.hubs);
  toy = balanced.asToy;
  await addUser(cluster.hubs[1]!, "Ann");
}, 120_000);

beforeEach(({ skip }) => skip(!HAS_REDIS, "Redis is not on this machine"));

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

describe("one sign-in", () => {
  test("with each step at another hub issues tokens that all hubs accept, until they are revoked", async () => {
    const client = await clientOf(toy);
    balanced.used.length = 0;
    const tokens = await tokensFor(toy, client);
    expect(balanced.used.slice(0, 6)).toEqual([0, 1, 2, 0, 1, 2].map((at) => (at + balanced.used[0]!) % 3));
    const other = await tokensFor(toy, client);
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
    const renewed = await refresh(toy, client, tokens.refresh_token!);
    expect(await statuses(cluster.hubs, renewed.access_token)).toEqual([200, 200, 200]);
    const body = new URLSearchParams({ client_id: client, token: renewed.access_token! });
    expect((await toy.fetch("/revoke", { method: "POST", body })).status).toBe(200);
    await vi.waitFor(async () => expect(await statuses(cluster.hubs, renewed.access_token)).toEqual([401, 401, 401]), {
      timeout: 3000,
      interval: 20,
    });
    expect(await statuses(cluster.hubs, other.access_token)).toEqual([200, 200, 200]);
  });

  test("ends for all hubs when its refresh token is revoked", async () => {
    const client = await clientOf(toy);
    const tokens = await tokensFor(toy, client);
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
    const body = new URLSearchParams({ client_id: client, token: tokens.refresh_token! });
    await toy.fetch("/revoke", { method: "POST", body });
    await vi.waitFor(async () => expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([401, 401, 401]), {
      timeout: 3000,
      interval: 20,
    });
    expect(await refresh(toy, client, tokens.refresh_token!)).toMatchObject({ error: "invalid_grant" });
  });

  test("continues at the other hubs when a hub is killed in the middle", async () => {
    const client = await clientOf(toy);
    const visitor = new Visitor(toy);
    const request = authorizationOf(toy, client);
    const login = await visitor.open(request.url);
    const victim = cluster.hubs[balanced.used.at(-1)!]!;
    await victim.stop("SIGKILL");
    const consent = await visitor.login(login);
    await victim.start();
    const second = cluster.hubs[balanced.used.at(-1)!]!;
    await second.stop("SIGKILL");
    const done = await visitor.submit(consent, { action: "allow" });
    const code = new URL(done.location!).searchParams.get("code")!;
    const tokens = await redeem(toy, client, { code, verifier: request.verifier });
    expect(isIssued(await refresh(toy, client, tokens.refresh_token!))).toBe(true);
    await second.start();
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
  });

  test("of a device is started, confirmed and finished at different hubs", async () => {
    const client = await clientOf(toy, { grant_types: [DEVICE_GRANT, "refresh_token"], redirect_uris: [] });
    const body = new URLSearchParams({ client_id: client });
    const started = (await (await toy.fetch("/device_authorization", { method: "POST", body })).json()) as JsonObject;
    const poll = (): Promise<Tokens> =>
      tokenRequest(toy, { grant_type: DEVICE_GRANT, client_id: client, device_code: String(started["device_code"]) });
    expect([(await poll()).error, (await poll()).error]).toEqual(["authorization_pending", "slow_down"]);
    const visitor = new Visitor(toy);
    const code = { user_code: String(started["user_code"]) };
    const send = async (page: { readonly text: string }, values: Record<string, string>) => {
      const xsrf = /name="xsrf" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
      const form = new URLSearchParams({ xsrf, ...values });
      return visitor.open(`${PUBLIC_URL}/device`, { method: "POST", body: form });
    };
    const entered = await send(await visitor.open(`${PUBLIC_URL}/device`), code);
    const consent = await visitor.login(await send(entered, { ...code, confirm: "yes" }));
    await visitor.submit(consent, { action: "allow" });
    const tokens = await poll();
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
    expect(await poll()).toMatchObject({ error: "invalid_grant" });
  });
});

describe("concurrent requests at all hubs", () => {
  test("with one authorization code issue tokens at most once, and none of them is valid afterwards", async () => {
    const client = await clientOf(toy);
    const code = await codeFor(toy, client);
    const results = await Promise.all(Array.from({ length: 6 }, () => redeem(toy, client, code)));
    expect(results.filter(isIssued).length).toBeLessThanOrEqual(1);
    for (const { access_token: token } of results.filter(isIssued))
      await vi.waitFor(async () => expect(await statuses(cluster.hubs, token)).toEqual([401, 401, 401]), WAIT);
  });

  test("with one refresh token are answered three times, and the next one revokes its grant", async () => {
    const client = await clientOf(toy);
    const { refresh_token: token } = await tokensFor(toy, client);
    const both = await Promise.all([refresh(toy, client, token!), refresh(toy, client, token!)]);
    expect(both.map(isIssued)).toEqual([true, true]);
    const [own, other] = both.map(({ access_token: issued }) => issued);
    expect([await statuses(cluster.hubs, own), await statuses(cluster.hubs, other)].flat()).toEqual(
      Array<number>(6).fill(200),
    );
    const more = await Promise.all(Array.from({ length: 5 }, () => refresh(toy, client, token!)));
    expect(more.filter(isIssued).length).toBeLessThanOrEqual(1);
    await vi.waitFor(async () => expect(await statuses(cluster.hubs, own)).toEqual([401, 401, 401]), WAIT);
    expect(await refresh(toy, client, both[0]!.refresh_token!)).toMatchObject({ error: "invalid_grant" });
  });

  test("with one refresh token of another client revoke nothing", async () => {
    const [client, thief] = [await clientOf(toy), await clientOf(toy)];
    const tokens = await tokensFor(toy, client);
    const stolen = await Promise.all(Array.from({ length: 6 }, () => refresh(toy, thief, tokens.refresh_token!)));
    expect(stolen.some(isIssued)).toBe(false);
    expect(isIssued(await refresh(toy, client, tokens.refresh_token!))).toBe(true);
  });

  test("with a wrong password are limited for all hubs together", async () => {
    await addUser(cluster.hubs[2]!, "Eve");
    const client = await clientOf(toy);
    const attempts = Array.from({ length: 7 }, async () => {
      const visitor = new Visitor(toy);
      return (await visitor.login(await visitor.open(authorizationOf(toy, client).url), "Eve", "wrong")).status;
    });
    const counts = (await Promise.all(attempts)).toSorted();
    expect(counts).toEqual([401, 401, 401, 401, 401, 429, 429]);
  });
});

describe("users and clients", () => {
  test("are shown and changed by the commands on any machine, and their removal ends access at all hubs", async () => {
    const [first, second, third] = cluster.hubs as [HubProcess, HubProcess, HubProcess];
    await addUser(first, "Bob");
    expect((await second.run(["user", "list"])).output).toContain("Bob");
    const client = await clientOf(toy, { client_name: "Listed client" });
    expect((await third.run(["client", "list", "--json"])).output).toContain(client);
    const visitor = new Visitor(toy);
    const request = authorizationOf(toy, client);
    const consent = await visitor.login(await visitor.open(request.url), "Bob");
    const done = await visitor.submit(consent, { action: "allow" });
    const code = new URL(done.location!).searchParams.get("code")!;
    const tokens = await redeem(toy, client, { code, verifier: request.verifier });
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
    expect((await third.run(["user", "remove", "Bob"])).code).toBe(0);
    await vi.waitFor(async () => expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([401, 401, 401]), {
      timeout: 3000,
      interval: 20,
    });
    expect(await refresh(toy, client, tokens.refresh_token!)).toMatchObject({ error: "invalid_grant" });
  });

  test("lose their access at all hubs when the client is removed", async () => {
    const client = await clientOf(toy);
    const tokens = await tokensFor(toy, client);
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
    expect((await cluster.hubs[0]!.run(["client", "remove", client])).code).toBe(0);
    await vi.waitFor(async () => expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([401, 401, 401]), {
      timeout: 3000,
      interval: 20,
    });
    expect(await refresh(toy, client, tokens.refresh_token!)).toMatchObject({ error: "invalid_client" });
  });
});

test("all hubs publish the same keys; each value in the store is encrypted and expires", async () => {
  await addUser(cluster.hubs[0]!, "Annabel-Lee");
  const client = await clientOf(toy, { client_name: "Secret client name" });
  const tokens = await tokensFor(toy, client);
  const keys = await Promise.all(
    cluster.hubs.map(async ({ url }) => (await (await fetch(`${url}/jwks`)).json()) as JsonObject),
  );
  expect(keys[1]).toEqual(keys[0]);
  expect(keys[2]).toEqual(keys[0]);
  const cli = (...args: readonly string[]): string =>
    spawnSync("redis-cli", ["-p", String(redis.port), ...args], { encoding: "latin1", maxBuffer: 1e8 }).stdout;
  const names = cli("keys", "s:auth:*").trim().split("\n");
  expect(names.length).toBeGreaterThan(10);
  const script =
    "local o={} for _,k in ipairs(redis.call('KEYS','s:auth:*')) do o[#o+1]=k..redis.call('DUMP',k) end return o";
  const stored = cli("eval", script, "0");
  const secrets = [
    tokens.access_token!,
    tokens.refresh_token!,
    client,
    "Annabel-Lee",
    "Secret client name",
    '"accountId"',
    "ES256",
  ];
  expect(secrets.filter((secret) => stored.includes(secret))).toEqual([]);
  const forever = names.filter((name) => Number(cli("pttl", name)) <= 0 && cli("exists", name).trim() === "1");
  expect(forever).toEqual([]);
});

test("without the store no hub grants access, and signed-in callers keep theirs", async () => {
  const client = await clientOf(toy);
  const [kept, unseen] = [await tokensFor(toy, client), await tokensFor(toy, client)];
  const waiting = await codeFor(toy, client);
  expect(await statuses(cluster.hubs, kept.access_token)).toEqual([200, 200, 200]);
  await redis.kill();
  const refused = async (path: string, init: RequestInit = {}): Promise<void> => {
    for (const _ of cluster.hubs) {
      const answer = await toy.fetch(path, init);
      const text = await answer.text();
      expect([answer.status, Number(answer.headers.get("retry-after")) > 0, text]).toEqual([503, true, text]);
      expect(text).not.toContain("access_token");
    }
  };
  const post = (body: Record<string, string>): RequestInit => ({ method: "POST", body: new URLSearchParams(body) });
  await refused(authorizationOf(toy, client).url.slice(PUBLIC_URL.length), { headers: { accept: "text/html" } });
  const grant = { grant_type: "authorization_code", client_id: client, redirect_uri: "http://127.0.0.1:9123/callback" };
  await refused("/token", post({ ...grant, code: waiting.code, code_verifier: waiting.verifier }));
  await refused("/token", post({ grant_type: "refresh_token", client_id: client, refresh_token: kept.refresh_token! }));
  await refused("/revoke", post({ client_id: client, token: kept.access_token! }));
  await refused("/device_authorization", post({ client_id: client }));
  expect((await register(toy)).status).toBe(503);
  expect((await toy.fetch("/jwks")).status).toBe(200);
  expect(await statuses(cluster.hubs, unseen.access_token)).toEqual([503, 503, 503]);
  expect(await statuses(cluster.hubs, "unknown")).toEqual([503, 503, 503]);
  for (let count = 0; count < 3; count += 1)
    expect(await statuses(cluster.hubs, kept.access_token)).toEqual([200, 200, 200]);
  await redis.resume();
  await vi.waitFor(
    async () => expect(await statuses(cluster.hubs, unseen.access_token)).toEqual([200, 200, 200]),
    WAIT,
  );
  const tokens = await redeem(toy, client, waiting);
  expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
  expect(isIssued(await refresh(toy, client, kept.refresh_token!))).toBe(true);
});

describe("the key of the hubs", () => {
  test.each(["serve", "check"])("must be set: `toolyard %s` names the variable", async (command) => {
    const own = await Cluster.start({ hubs: 1, store: { url: redis.url, prefix: "k:" }, config: CONFIG, env: KEY });
    onTestFinished(() => own[Symbol.asyncDispose]());
    const { code, output } = await own.hubs[0]!.run([command], "", { TOOLYARD_VAULT_KEY: "" });
    expect(code).not.toBe(0);
    expect(output).toContain('`auth.modes` with "builtin" with `[store]` needs the variable TOOLYARD_VAULT_KEY');
  });

  test("must be the same: a hub with another key reports it, and signs nobody in", async () => {
    const other = { TOOLYARD_VAULT_KEY: randomBytes(32).toString("base64") };
    const own = await Cluster.start({ hubs: 1, store: { url: redis.url, prefix: "s:" }, config: CONFIG, env: other });
    onTestFinished(() => own[Symbol.asyncDispose]());
    const [hub] = own.hubs as [HubProcess];
    await vi.waitFor(() => expect(hub.log).toContain("Give all hubs of the store the same value"), WAIT);
    const client = await clientOf(toy);
    const tokens = await tokensFor(toy, client);
    expect(await statusAt(hub, tokens.access_token)).toBe(503);
    expect((await fetch(authorizationOf(toy, client).url.replace(PUBLIC_URL, hub.url))).status).toBe(503);
    const { code, output } = await hub.run(["user", "list"]);
    expect([code === 0, output]).toEqual([false, expect.stringContaining("the same value")]);
    expect(await statuses(cluster.hubs, tokens.access_token)).toEqual([200, 200, 200]);
  });
});

test("two hubs with Redis Cluster are one authorization server", async () => {
  const store = await RedisCluster.start();
  onTestFinished(() => store[Symbol.asyncDispose]());
  const own = await Cluster.start({ hubs: 2, store: { ...store.store }, config: CONFIG, env: KEY });
  onTestFinished(() => own[Symbol.asyncDispose]());
  const hubs = new LoadBalancer(own.hubs).asToy;
  await addUser(own.hubs[0]!, "Ann");
  const client = await clientOf(hubs);
  const tokens = await tokensFor(hubs, client);
  const both = await Promise.all([
    refresh(hubs, client, tokens.refresh_token!),
    refresh(hubs, client, tokens.refresh_token!),
  ]);
  expect(both.map(isIssued)).toEqual([true, true]);
  expect(await statuses(own.hubs, both[1]!.access_token)).toEqual([200, 200]);
  const body = new URLSearchParams({ client_id: client, token: tokens.refresh_token! });
  await hubs.fetch("/revoke", { method: "POST", body });
  await vi.waitFor(async () => expect(await statuses(own.hubs, both[1]!.access_token)).toEqual([401, 401]), WAIT);
}, 120_000);

test("`toolyard check` warns if hubs with a store have no key", async () => {
  const remote = { mcp: { remote_servers: [{ alias: "far", url: "http://127.0.0.1:9/mcp" }] } };
  const own = await Cluster.start({ hubs: 1, store: { url: redis.url, prefix: "v:" }, config: remote, env: KEY });
  onTestFinished(() => own[Symbol.asyncDispose]());
  const [hub] = own.hubs as [HubProcess];
  const without = await hub.run(["check", "--timeout", "1s"], "", { TOOLYARD_VAULT_KEY: "" });
  const withKey = await hub.run(["check", "--timeout", "1s"]);
  for (const warning of [
    "Each hub of the store has its own sign-ins to servers",
    "A program that can read the store can send requests to the hubs as their administrator",
  ]) {
    expect(without.output).toContain(warning);
    expect(withKey.output).not.toContain(warning);
  }
  expect(await hub.run(["vault", "list"])).toEqual({ code: 0, output: "The vault is empty.\n" });
});
