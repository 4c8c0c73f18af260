import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OptionError } from "../../packages/toolyard/src/core/errors.ts";
import { resolveBuiltin } from "../../packages/toolyard/src/auth/builtin/options.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { authorizationOf, clientOf, openYard, statusWith, tokenRequest, Visitor, type Tokens } from "./builtin-yard.ts";
import { KeyHolder } from "./dpop-client.ts";
import { RealProvider } from "./real-provider.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SECRET = "a-secret-of-16-characters";

let idp: RealProvider;
let toy: ToyHub;
let settings: Record<string, unknown>;

beforeAll(async () => {
  idp = await RealProvider.start("assertion-issuer.mjs");
  const machine = { secret: SECRET };
  const builtin = {
    scopes: ["files"],
    machines: { desktop: { ...machine, client_credentials: false }, phone: machine, ci: machine },
    providers: {
      corp: {
        url: idp.url,
        assertion_clients: ["desktop", "phone"],
        allow: ["email:*@corp.example", "group:dev", "user:claims-only"],
      },
    },
  };
  settings = {
    roles: {
      dev: { members: { groups: ["corp:dev"] }, allow: ["*"] },
      it: { members: { claims: { department: "it" }, issuer: idp.url }, allow: ["*"] },
      "hub-it": { members: { claims: { department: "it" } }, allow: ["*"] },
      guest: { members: { everyone: true }, allow: ["nothing"] },
    },
  };
  toy = await openYard(builtin, settings);
  settings = { auth: { modes: ["builtin"], builtin }, ...settings };
}, 60_000);

afterAll(async () => {
  await toy[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
});

interface Parts {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  readonly key?: "foreign" | "secret";
}

const seconds = (): number => Math.floor(Date.now() / 1000);

/** Requests an assertion that is correct except for the given parts. A claim of `undefined` is omitted. */
async function assertion({ claims = {}, ...more }: Parts = {}): Promise<string> {
  const all = {
    sub: "ann",
    aud: toy.served.address.url,
    client_id: "desktop",
    resource: `${toy.served.address.url}/mcp`,
    jti: randomUUID(),
    iat: seconds(),
    exp: seconds() + 300,
    groups: ["dev"],
    ...claims,
  };
  const answer = await fetch(`${idp.url}/sign`, { method: "POST", body: JSON.stringify({ claims: all, ...more }) });
  return answer.text();
}

function exchange(jwt: string, more: Record<string, string> = {}, client = "desktop"): Promise<Tokens> {
  const authorization = `Basic ${Buffer.from(`${client}:${SECRET}`).toString("base64")}`;
  return tokenRequest(toy, { grant_type: GRANT, assertion: jwt, ...more }, { authorization });
}

describe("an identity assertion", () => {
  test("gives access in the name of the user, with the groups of the provider, and no refresh token", async () => {
    const tokens = await exchange(await assertion());
    expect(tokens).toMatchObject({ token_type: "Bearer", expires_in: 1800, scope: "mcp" });
    expect(tokens.refresh_token).toBeUndefined();
    expect(await statusWith(toy, tokens.access_token)).toBe(200);
    const who = await toy.fetch("/whoami", { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await who.json()).toMatchObject({ name: "corp:ann" });
  });

  test("names the same user each time, and its claims decide the roles", async () => {
    const claims = { sub: "claims-only", groups: [], department: "it" };
    const one = await exchange(await assertion({ claims }));
    expect(await statusWith(toy, one.access_token)).toBe(200);
    const other = await exchange(await assertion({ claims: { ...claims, department: "sales" } }));
    expect(await statusWith(toy, other.access_token)).toBe(403);
  });

  test("limits the scopes; the request may limit them further", async () => {
    const claims = { scope: "mcp files unknown" };
    expect(await exchange(await assertion({ claims }))).toMatchObject({ scope: "mcp files" });
    expect(await exchange(await assertion({ claims }), { scope: "files" })).toMatchObject({ scope: "files" });
    expect(await exchange(await assertion(), { scope: "mcp files" })).toMatchObject({ scope: "mcp" });
    expect(await exchange(await assertion(), { scope: "files" })).toMatchObject({ error: "invalid_scope" });
    expect(await exchange(await assertion({ claims: { scope: "other" } }))).toMatchObject({ error: "invalid_scope" });
  });

  test("works once, also for concurrent requests and after a restart of the hub", async () => {
    const jwt = await assertion();
    const answers = await Promise.all([exchange(jwt), exchange(jwt), exchange(jwt)]);
    expect(answers.filter((answer) => answer.access_token !== undefined)).toHaveLength(1);
    expect(answers.filter(({ error }) => error === "invalid_grant")).toHaveLength(2);
    const { home, served } = toy;
    await toy.close();
    const port = Number(new URL(served.address.url).port);
    toy = await ToyHub.reopen(FEATURES, settings as never, { home, port });
    const refused = { error_description: "The assertion was used before" };
    // `fetch` may still use a connection to the previous hub.
    await expect.poll(() => exchange(jwt).catch(() => undefined)).toMatchObject(refused);
    const files = await readdir(join(home, "data", "auth", "records", "UsedAssertion"));
    expect(files.every((name) => /^[0-9a-f]{64}\.json$/.test(name))).toBe(true);
  });

  test("is exchanged for the requested resource if it permits that resource", async () => {
    const resource = `${toy.served.address.url}/mcp`;
    expect(await exchange(await assertion(), { resource })).toHaveProperty("access_token");
    const other = `${toy.served.address.url}/api`;
    expect(await exchange(await assertion(), { resource: other })).toMatchObject({ error: "invalid_target" });
  });
});

describe("refuses an assertion", () => {
  const hub = (): string => toy.served.address.url;
  const cases: readonly (readonly [string, () => Parts])[] = [
    ["for another authorization server", () => ({ claims: { aud: "https://other.example" } })],
    ["for this and another authorization server", () => ({ claims: { aud: [hub(), "https://other.example"] } })],
    ["for the MCP endpoint instead of the issuer", () => ({ claims: { aud: `${hub()}/mcp` } })],
    ["without an audience", () => ({ claims: { aud: undefined } })],
    ["for another client", () => ({ claims: { client_id: "phone" } })],
    ["without a client", () => ({ claims: { client_id: undefined } })],
    ["for another resource", () => ({ claims: { resource: "https://files.example/mcp" } })],
    ["without a resource", () => ({ claims: { resource: undefined } })],
    ["of a provider that is not configured", () => ({ claims: { iss: "https://evil.example" } })],
    ["that has expired", () => ({ claims: { iat: seconds() - 600, exp: seconds() - 300 } })],
    ["that is not valid yet", () => ({ claims: { nbf: seconds() + 300 } })],
    ["that was issued in the future", () => ({ claims: { iat: seconds() + 120 } })],
    ["that is valid for a day", () => ({ claims: { exp: seconds() + 86_400 } })],
    ["without an expiry", () => ({ claims: { exp: undefined } })],
    ["without an id", () => ({ claims: { jti: undefined } })],
    ["with an empty id", () => ({ claims: { jti: "" } })],
    ["with an id of 1000 characters", () => ({ claims: { jti: "x".repeat(1000) } })],
    ["without a subject", () => ({ claims: { sub: undefined } })],
    ["whose subject contains a line break", () => ({ claims: { sub: "ann\nbob" } })],
    ["that is an ID token", () => ({ header: { typ: "JWT" } })],
    ["that is an access token", () => ({ header: { typ: "at+jwt" } })],
    ["without a type", () => ({ header: { typ: null } })],
    ["signed with another key", () => ({ key: "foreign" })],
    ["signed with the public key as a shared secret", () => ({ key: "secret", header: { alg: "HS256" } })],
    ["with an unknown key id", () => ({ header: { kid: "k2" } })],
    ["bound to a key that the request does not prove", () => ({ claims: { cnf: { jkt: "x".repeat(43) } } })],
    ["of a user that no rule admits", () => ({ claims: { sub: "eve", groups: ["sales"] } })],
    [
      "of a user whose matching address is not verified",
      () => ({ claims: { sub: "eve", groups: [], email: "eve@corp.example" } }),
    ],
    ["with 2,000 groups", () => ({ claims: { groups: Array.from({ length: 2000 }, (_, at) => `g${at}`) } })],
    ["of more than 16 kB", () => ({ claims: { pad: "x".repeat(20_000) } })],
  ];
  for (const [title, parts] of cases)
    test(title, async () => {
      expect(await exchange(await assertion(parts()))).toMatchObject({ error: "invalid_grant" });
    });

  test("with `alg` none, and texts that are not a JWT", async () => {
    const [header, payload] = (await assertion()).split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "oauth-id-jag+jwt" })).toString("base64url");
    for (const text of [`${none}.${payload}.`, `${header}.${payload}.`, "x", "a.b.c", "", "{}"])
      expect((await exchange(text)).error).toMatch(/^invalid_(grant|request)$/);
  });

  test("as an access token", async () => {
    expect(await statusWith(toy, await assertion())).toBe(401);
  });

  test("from clients that may not send one", async () => {
    const clientId = await clientOf(toy, { grant_types: [GRANT, "authorization_code"] });
    const parts = { claims: { client_id: clientId } };
    const body = { grant_type: GRANT, client_id: clientId, assertion: await assertion(parts) };
    expect((await tokenRequest(toy, body)).access_token).toBeUndefined();
    const jwt = await assertion({ claims: { client_id: "ci" } });
    expect((await exchange(jwt, {}, "ci")).access_token).toBeUndefined();
    expect(await exchange(await assertion({ claims: { client_id: "phone" } }), {}, "phone")).toHaveProperty(
      "access_token",
    );
  });

  test("with a wrong client secret, or without client authentication", async () => {
    const jwt = await assertion();
    const wrong = { authorization: `Basic ${Buffer.from("desktop:wrong").toString("base64")}` };
    const body = { grant_type: GRANT, assertion: jwt };
    expect(await tokenRequest(toy, body, wrong)).toMatchObject({ error: "invalid_client" });
    expect((await tokenRequest(toy, { ...body, client_id: "desktop" })).error).toMatch(/^invalid_(client|request)$/);
    expect(await exchange(jwt)).toHaveProperty("access_token");
  });
});

describe("an assertion with a proof of a key", () => {
  const exchangeBy = async (jwt: string, by: KeyHolder, claims: Record<string, unknown> = {}): Promise<Tokens> => {
    const dpop = await by.proof("POST", `${toy.served.address.url}/token`, { claims });
    const authorization = `Basic ${Buffer.from(`desktop:${SECRET}`).toString("base64")}`;
    return tokenRequest(toy, { grant_type: GRANT, assertion: jwt }, { authorization, dpop });
  };

  test("gives a token that is bound to the key", async () => {
    const holder = await KeyHolder.create();
    for (const cnf of [undefined, { jkt: holder.thumbprint }]) {
      const tokens = await exchangeBy(await assertion({ claims: { cnf } }), holder);
      expect(tokens).toMatchObject({ token_type: "DPoP", scope: "mcp" });
      const token = tokens.access_token!;
      expect(await statusWith(toy, token)).toBe(401);
      const headers = await holder.headers(token, "GET", `${toy.served.address.url}/whoami`);
      expect((await toy.fetch("/whoami", { headers })).status).toBe(200);
    }
  });

  test("is refused if the proof is of another key, for another address, or was used before", async () => {
    const [holder, other] = [await KeyHolder.create(), await KeyHolder.create()];
    const bound = { claims: { cnf: { jkt: holder.thumbprint } } };
    expect(await exchangeBy(await assertion(bound), other)).toMatchObject({ error: "invalid_grant" });
    expect(await exchange(await assertion(bound))).toMatchObject({ error: "invalid_grant" });
    const wrong = { htu: `${toy.served.address.url}/mcp` };
    expect(await exchangeBy(await assertion(), holder, wrong)).toMatchObject({ error: "invalid_dpop_proof" });
    const proof = { jti: "once" };
    expect(await exchangeBy(await assertion(), holder, proof)).toHaveProperty("access_token");
    expect(await exchangeBy(await assertion(), holder, proof)).toMatchObject({ error: "invalid_dpop_proof" });
    const certificate = { claims: { cnf: { "x5t#S256": "a" } } };
    expect(await exchangeBy(await assertion(certificate), holder)).toMatchObject({ error: "invalid_grant" });
  });
});

test("a configuration entry for browser sign-ins and one for assertions may name the same provider", async () => {
  const url = idp.url;
  const builtin = {
    machines: { desktop: { secret: SECRET } },
    providers: {
      browser: { url, client_id: "hub", client_secret: "s", allow: ["everyone"] },
      tools: { url, assertion_clients: ["desktop"], allow: ["everyone"] },
    },
  };
  await using hub = await openYard(builtin);
  const claims = { aud: hub.served.address.url, resource: `${hub.served.address.url}/mcp` };
  const authorization = `Basic ${Buffer.from(`desktop:${SECRET}`).toString("base64")}`;
  const body = { grant_type: GRANT, assertion: await assertion({ claims }) };
  expect(await tokenRequest(hub, body, { authorization })).toHaveProperty("access_token");
});

test("a client that sends assertions gets no token for itself if its entry forbids client credentials", async () => {
  const basic = (id: string) => ({ authorization: `Basic ${Buffer.from(`${id}:${SECRET}`).toString("base64")}` });
  const body = { grant_type: "client_credentials", scope: "mcp" };
  expect((await tokenRequest(toy, body, basic("desktop"))).access_token).toBeUndefined();
  expect(await tokenRequest(toy, body, basic("phone"))).toHaveProperty("access_token");
});

test("the metadata lists the grant, and the sign-in page has no link to the provider", async () => {
  const metadata = await (await toy.fetch("/.well-known/oauth-authorization-server")).json();
  expect(metadata).toMatchObject({
    grant_types_supported: expect.arrayContaining([GRANT]),
    authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
  });
  const page = await new Visitor(toy).open(authorizationOf(toy, await clientOf(toy)).url);
  expect(page.text).toContain('value="login"');
  expect(page.text).not.toContain("provider=");
});

test("a provider that does not answer gives no access, and users with a token keep theirs", async () => {
  const { access_token: before } = await exchange(await assertion());
  await using other = await RealProvider.start("assertion-issuer.mjs");
  const builtin = {
    machines: { desktop: { secret: SECRET } },
    providers: { corp: { url: other.url, assertion_clients: ["desktop"], allow: ["everyone"] } },
  };
  await fetch(`${other.url}/fail`);
  await using hub = await openYard(builtin);
  const claims = { iss: other.url, aud: hub.served.address.url, resource: `${hub.served.address.url}/mcp` };
  const jwt = await assertion({ claims });
  const authorization = `Basic ${Buffer.from(`desktop:${SECRET}`).toString("base64")}`;
  const body = new URLSearchParams({ grant_type: GRANT, assertion: jwt });
  const answer = await hub.fetch("/token", { method: "POST", headers: { authorization }, body });
  // Clients retry after a 5xx status only.
  expect([answer.status, await answer.json()]).toEqual([
    503,
    expect.objectContaining({ error: "temporarily_unavailable" }),
  ]);
  expect(await statusWith(toy, before)).toBe(200);
});

describe("the options refuse", () => {
  const url = "https://login.example.com";
  const machines = { desktop: { secret: SECRET } };
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ["a client without a secret", { url, assertion_clients: ["other"] }, /names "other", which is no entry/],
    ["a provider without a way to sign in", { url }, /needs `client_id` and `client_secret`/],
    ["a client id without its secret", { url, client_id: "hub" }, /needs both/],
    ["assertions of GitHub", { kind: "github", assertion_clients: ["desktop"] }, /GitHub issues no assertions/],
  ];
  test("a client without any way to get a token", () => {
    const alone = { machines: { desktop: { secret: SECRET, client_credentials: false } } };
    expect(() => resolveBuiltin(alone)).toThrow(/`auth\.builtin\.machines\.desktop\.client_credentials` is false/);
    const corp = { url, assertion_clients: ["desktop"], allow: ["everyone"] };
    expect(resolveBuiltin({ ...alone, providers: { corp } }).machines).toHaveLength(1);
    expect(resolveBuiltin({ machines: { desktop: { secret: SECRET } } }).machines).toHaveLength(1);
  });

  for (const [title, entry, message] of cases)
    test(title, () => {
      const providers = { corp: { allow: ["group:dev"], ...entry } };
      expect(() => resolveBuiltin({ machines, providers } as never)).toThrow(OptionError);
      expect(() => resolveBuiltin({ machines, providers } as never)).toThrow(message);
    });
});
