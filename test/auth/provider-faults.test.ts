import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Audience } from "../../packages/toolyard/src/auth/audience.ts";
import { createOAuthAccess, type OAuthAccess } from "../../packages/toolyard/src/auth/create-oauth-access.ts";
import { resolveAuth, type HubAuthConfig } from "../../packages/toolyard/src/auth/options.ts";
import type { GrantRights } from "../../packages/toolyard/src/core/calls/identity.ts";
import type { Authentication } from "../../packages/toolyard/src/core/ports/authenticator.ts";
import { EVERYTHING } from "../../packages/toolyard/src/core/ports/rights.ts";
import { json, KeyIssuer } from "./key-issuer.ts";

const HUB = "https://hub.example";
const MINUTE_MS = 60_000;
const ALL = Object.freeze({ rights: EVERYTHING });

let issuer: KeyIssuer;
let now: number;
let reports: string[];
let open: OAuthAccess[];

beforeEach(async () => {
  issuer = await KeyIssuer.start();
  [now, reports, open] = [Date.now(), [], []];
});

afterEach(async () => {
  await Promise.all(open.map((access) => access.close()));
  await issuer[Symbol.asyncDispose]();
});

function create(more: Partial<HubAuthConfig["issuer"]> = {}, grantRights: GrantRights = () => ALL): OAuthAccess {
  const options = resolveAuth({ modes: ["issuer"], issuer: { url: issuer.url, ...more } });
  const access = createOAuthAccess({
    options,
    audience: new Audience([]),
    environment: {},
    grantRights,
    report: (problem) => void reports.push(problem),
    now: () => now,
  });
  access.opened?.({ baseUrl: HUB, isMount: (path) => path === "/mcp" });
  open.push(access);
  return access;
}

async function ask(access: OAuthAccess, token: string): Promise<Authentication> {
  const header = (name: string): string | undefined => (name === "authorization" ? `Bearer ${token}` : undefined);
  return access.authenticator.authenticate({ header }, "/mcp");
}

const statusOf = (answer: Authentication): number => (answer.admitted ? 200 : (answer.status ?? 401));

describe("an unavailable provider", () => {
  test("at the start of the hub: admits no caller until the provider answers", async () => {
    const port = Number(new URL(issuer.url).port);
    const token = await issuer.sign(HUB);
    const key = issuer;
    await issuer[Symbol.asyncDispose]();
    const access = create();
    expect(await ask(access, token)).toMatchObject({ admitted: false, status: 503, retryAfterMs: 5000 });
    expect(reports.length).toBe(1);
    issuer = await KeyIssuer.start(port);
    now += MINUTE_MS;
    expect(statusOf(await ask(access, token))).toBe(401);
    expect(statusOf(await ask(access, await issuer.sign(HUB)))).toBe(200);
    expect(key.url).toBe(issuer.url);
  });

  test("after the start: still admits known callers until their tokens expire", async () => {
    const access = create();
    const token = await issuer.sign(HUB);
    expect(statusOf(await ask(access, token))).toBe(200);
    issuer.answers.set("/jwks", (response) => response.writeHead(500).end());
    now += 4 * MINUTE_MS;
    expect(statusOf(await ask(access, token))).toBe(200);
    now += 2 * MINUTE_MS;
    expect(await ask(access, token)).toMatchObject({ admitted: false, challenge: expect.stringContaining("expired") });
  });

  test("after the start: still accepts a new token of a known key", async () => {
    const access = create();
    expect(statusOf(await ask(access, await issuer.sign(HUB)))).toBe(200);
    issuer.answers.set("/jwks", (response) => response.writeHead(500).end());
    now += 30 * MINUTE_MS;
    const later = { iat: Math.floor(now / 1000), exp: Math.floor(now / 1000) + 60 };
    expect(statusOf(await ask(access, await issuer.sign(HUB, { claims: later })))).toBe(200);
  });
});

describe("unusable keys admit no caller", () => {
  test.each<[string, (answer: ServerResponse) => void]>([
    ["HTML", (answer) => answer.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>")],
    ["a list", (answer) => json(answer, [])],
    ["keys that are no list", (answer) => json(answer, { keys: "all" })],
    ["an empty body", (answer) => answer.writeHead(200).end()],
    ["a redirect", (answer) => answer.writeHead(302, { location: "http://127.0.0.1:1/keys" }).end()],
    ["more than the limit", (answer) => json(answer, { keys: [], filler: "x".repeat(600_000) })],
    [
      "more keys than the limit",
      (answer) => json(answer, { keys: Array.from({ length: 101 }, () => ({ kty: "EC" })) }),
    ],
    ["deep nesting", (answer) => answer.writeHead(200).end(`{"keys":${"[".repeat(99)}${"]".repeat(99)}}`)],
    ["a connection that ends", (answer) => answer.destroy()],
  ])("%s", async (_, answer) => {
    issuer.answers.set("/jwks", answer);
    expect(await ask(create(), await issuer.sign(HUB))).toMatchObject({ admitted: false, status: 503 });
  });

  test("a shared secret among the keys", async () => {
    issuer.answers.set("/jwks", (response) =>
      json(response, { keys: [{ kty: "oct", k: "c2VjcmV0", kid: "key-1-0" }] }),
    );
    expect(statusOf(await ask(create(), await issuer.sign(HUB)))).toBe(401);
  });

  test("metadata of another issuer", async () => {
    issuer.answers.set("/.well-known/oauth-authorization-server", (response) =>
      json(response, { issuer: "https://other.example", jwks_uri: `${issuer.url}/jwks` }),
    );
    expect(await ask(create(), await issuer.sign(HUB))).toMatchObject({ admitted: false, status: 503 });
  });
});

describe("key rotation", () => {
  test("is detected by the first token of the new key, with one request", async () => {
    const access = create();
    expect(statusOf(await ask(access, await issuer.sign(HUB)))).toBe(200);
    await issuer.rotate();
    now += MINUTE_MS;
    const before = issuer.seen.length;
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, at) => issuer.sign(HUB, { claims: { jti: `${at}` } })),
    );
    const answers = await Promise.all(tokens.map((token) => ask(access, token)));
    expect(new Set(answers.map(statusOf))).toEqual(new Set([200]));
    expect(issuer.seen.slice(before)).toEqual(["/jwks"]);
  });

  test("refuses new tokens of a withdrawn key", async () => {
    const access = create();
    const old = await issuer.sign(HUB, { claims: { jti: "unused" } });
    expect(statusOf(await ask(access, await issuer.sign(HUB)))).toBe(200);
    await issuer.rotate();
    now += MINUTE_MS;
    expect(statusOf(await ask(access, await issuer.sign(HUB)))).toBe(200);
    expect(statusOf(await ask(access, old))).toBe(401);
  });

  test("refuses no valid token and admits no forged one while callers send requests without a pause", async () => {
    const access = create();
    const stranger = await KeyIssuer.start();
    await using _ = stranger;
    const cached = await issuer.sign(HUB);
    expect(statusOf(await ask(access, cached))).toBe(200);
    const before = issuer.seen.length;
    const statuses = { cached: new Set<number>(), fresh: new Set<number>(), forged: new Set<number>() };
    let [isRotating, rounds] = [true, 0];
    const pump = async (at: number): Promise<void> => {
      for (let count = 0; isRotating; count += 1) {
        const jti = `${at}-${count}`;
        const fresh = await issuer.sign(HUB, { claims: { jti } });
        const forged = await stranger.sign(HUB, { claims: { iss: issuer.url, jti } });
        const answers = await Promise.all([ask(access, cached), ask(access, fresh), ask(access, forged)]);
        for (const [index, name] of (["cached", "fresh", "forged"] as const).entries())
          statuses[name].add(statusOf(answers[index]!));
        rounds += 1;
      }
    };
    const pumps = Array.from({ length: 8 }, (_unused, at) => pump(at));
    for (let rotation = 0; rotation < 20; rotation += 1) {
      // The clock passes the cooldown, so that the hub may read the keys again.
      now += 6000;
      await issuer.rotate(true);
      const target = rounds + 16;
      await vi.waitUntil(() => rounds >= target, { interval: 5 });
    }
    isRotating = false;
    await Promise.all(pumps);
    const expected = { cached: new Set([200]), fresh: new Set([200]), forged: new Set([401]) };
    expect(statuses).toEqual(expected);
    expect(issuer.seen.length - before).toBeLessThanOrEqual(20);
  });

  test("sends at most one request per cooldown for tokens with unknown keys", async () => {
    const access = create();
    await ask(access, await issuer.sign(HUB));
    const stranger = await KeyIssuer.start();
    await using _ = stranger;
    await stranger.rotate(true, "RS256");
    now += MINUTE_MS;
    const before = issuer.seen.length;
    for (let at = 0; at < 20; at += 1) {
      const forged = await stranger.sign(HUB, { claims: { iss: issuer.url, jti: `${at}` } });
      expect(statusOf(await ask(access, forged))).toBe(401);
    }
    expect(issuer.seen.slice(before)).toEqual(["/jwks"]);
  });
});

describe("introspection", () => {
  const INTROSPECTION = { verify: "introspection", client_id: "hub", client_secret: "s3cret&=" } as const;
  const claims = (more = {}): object => ({ active: true, iss: issuer.url, aud: HUB, sub: "ann", scope: "a", ...more });

  test("uses the hub's own credentials, once within a minute", async () => {
    const bodies: string[] = [];
    issuer.answers.set("/who", (response, body) => {
      bodies.push(body);
      json(response, claims());
    });
    const access = create(INTROSPECTION);
    expect(await ask(access, "opaque-1")).toMatchObject({ principal: { identity: { name: "ann", scopes: ["a"] } } });
    expect(statusOf(await ask(access, "opaque-1"))).toBe(200);
    expect(bodies).toEqual(["token=opaque-1&token_type_hint=access_token"]);
    now += MINUTE_MS;
    issuer.answers.set("/who", (response) => json(response, { active: false }));
    expect(statusOf(await ask(access, "opaque-1"))).toBe(401);
  });

  test.each<[string, (issuer: string) => object]>([
    ["a token that is not active", () => ({ active: false })],
    ["an answer that does not say so with `true`", () => ({ active: "true" })],
    ["another issuer", () => ({ iss: "https://other.example" })],
    ["another audience", () => ({ aud: "https://files.example" })],
    ["no audience", () => ({ aud: undefined })],
    ["an expired token", () => ({ exp: 1 })],
    ["a token that is not valid yet", () => ({ nbf: 99_999_999_999 })],
    ["a refresh token", () => ({ token_type: "Refresh" })],
    ["a token that is bound to a key", () => ({ cnf: { jkt: "x" } })],
    ["no subject", () => ({ sub: undefined })],
  ])("refuses %s", async (_, more) => {
    issuer.answers.set("/who", (response) => json(response, claims(more(issuer.url))));
    expect(statusOf(await ask(create(INTROSPECTION), "opaque"))).toBe(401);
  });

  test("admits no caller while the provider fails, except callers of the last minute", async () => {
    issuer.answers.set("/who", (response) => json(response, claims()));
    const access = create(INTROSPECTION);
    expect(statusOf(await ask(access, "early"))).toBe(200);
    issuer.answers.set("/who", (response) => response.writeHead(200).end("<html>"));
    expect(statusOf(await ask(access, "late"))).toBe(503);
    expect(statusOf(await ask(access, "early"))).toBe(200);
    now += MINUTE_MS;
    expect(statusOf(await ask(access, "early"))).toBe(503);
  });
});

describe("rights", () => {
  test("are computed for each request; a request with undefined rights gets 403", async () => {
    let grant: ReturnType<GrantRights> = ALL;
    const access = create({}, () => grant);
    const token = await issuer.sign(HUB);
    const [first, second] = [await ask(access, token), await ask(access, token)];
    expect(first.admitted && second.admitted && first.principal === second.principal).toBe(true);
    grant = Object.freeze({ rights: Object.freeze({ allow: ["a.*"] }), ratePerMinute: 5 });
    expect(await ask(access, token)).toMatchObject({ principal: { rights: { allow: ["a.*"] }, ratePerMinute: 5 } });
    grant = undefined;
    expect(statusOf(await ask(access, token))).toBe(403);
  });

  test("belong to an identity: one `sub` for every token; a client of the same name is another identity", async () => {
    const access = create();
    const idOf = async (claims: object): Promise<unknown> => {
      const answer = await ask(access, await issuer.sign(HUB, { claims: { jti: String(Math.random()), ...claims } }));
      return answer.admitted && answer.principal.id;
    };
    expect(await idOf({})).toBe(await idOf({ exp: Math.floor(Date.now() / 1000) + 999 }));
    expect(await idOf({ sub: "app" })).toBe(`${issuer.url}|client|app`);
    expect(await idOf({ sub: "app", client_id: "other" })).toBe(`${issuer.url}|user|app`);
  });
});
