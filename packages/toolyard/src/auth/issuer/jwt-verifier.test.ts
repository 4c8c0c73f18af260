import { createHmac, createSign, generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTVerifyGetKey } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { Audience } from "../audience.ts";
import { JwtVerifier, type JwtRules } from "./jwt-verifier.ts";

const ISSUER = "https://login.example";
const HUB = "https://hub.example/tools";
const NOW_S = 1_800_000_000;
const JKT = "mi-5mdz5w3f9BFrf-jWiDNYX8VFzVCFfxY_Y3VES5dg";

let key: CryptoKey;
let publicPem: string;
let find: JWTVerifyGetKey;

beforeAll(async () => {
  const pair = await generateKeyPair("RS256", { extractable: true });
  key = pair.privateKey;
  find = createLocalJWKSet({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "RS256" }] });
  const { exportSPKI } = await import("jose");
  publicPem = await exportSPKI(pair.publicKey);
});

interface Parts {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: CryptoKey;
}

function sign({ header, claims, key: signer = key }: Parts = {}): Promise<string> {
  const all = { iss: ISSUER, aud: `${HUB}/mcp`, sub: "ann", iat: NOW_S - 10, exp: NOW_S + 300, ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(kept).setProtectedHeader({ alg: "RS256", kid: "one", typ: "at+jwt", ...header }).sign(signer);
}

function verifier(rules: Partial<JwtRules["issuer"]> = {}, configured: readonly string[] = []): JwtVerifier {
  const audience = new Audience(configured);
  audience.use({ baseUrl: HUB, isMount: (path) => path === "/mcp" || path.startsWith("/api/") });
  const issuer = {
    url: ISSUER,
    algorithms: ["RS256", "ES256"],
    tokenTypes: ["at+jwt"],
    nameClaim: "preferred_username",
    groupsClaim: "realm_access.roles",
    ...rules,
  };
  return new JwtVerifier({ issuer, audience, clockSkewMs: 30_000, now: () => NOW_S * 1000 }, find);
}

describe("JWT verifier accepts", () => {
  test.each<[string, Parts]>([
    ["a token for the MCP endpoint", {}],
    ["a token for the hub itself", { claims: { aud: HUB } }],
    ["a token for the hub with a slash at the end", { claims: { aud: `${HUB}/` } }],
    ["a token for several audiences", { claims: { aud: ["https://other.example", `${HUB}/api/tools`] } }],
    ["the long form of the type", { header: { typ: "application/at+jwt" } }],
    ["a token that expired within the clock skew", { claims: { exp: NOW_S - 20 } }],
    ["a token that begins within the clock skew", { claims: { nbf: NOW_S + 20, iat: NOW_S + 20 } }],
    ["a token without a time of issue", { claims: { iat: undefined } }],
  ])("%s", async (_, parts) => {
    expect(await verifier().verify(await sign(parts))).toMatchObject({ kind: "user", id: `${ISSUER}|user|ann` });
  });

  test("a configured audience that is not a URL", async () => {
    const token = await sign({ claims: { aud: "api://toolyard" } });
    expect((await verifier({}, ["api://toolyard"]).verify(token)).id).toBe(`${ISSUER}|user|ann`);
    await expect(verifier().verify(token)).rejects.toThrow("another audience");
  });

  test("a plain JWT if the configuration allows it, but no ID token", async () => {
    const lenient = verifier({ tokenTypes: ["at+jwt", "jwt"] });
    expect((await lenient.verify(await sign({ header: { typ: "JWT" } }))).name).toBe("ann");
    for (const claims of [{ nonce: "n" }, { at_hash: "h" }, { c_hash: "h" }])
      await expect(lenient.verify(await sign({ header: { typ: "JWT" }, claims }))).rejects.toThrow("ID token");
  });
});

test.each([{ jkt: JKT }, { jkt: JKT, "kc-jkt-type": "DPoP" }])(
  "reads the key of a bound token from %j",
  async (cnf) => {
    expect(await verifier().verify(await sign({ claims: { cnf } }))).toMatchObject({ boundKey: JKT });
  },
);

describe("JWT verifier refuses", () => {
  test.each<[string, Parts, RegExp]>([
    ["another issuer", { claims: { iss: "https://login.example.evil" } }, /another issuer/],
    ["an issuer with a slash more", { claims: { iss: `${ISSUER}/` } }, /another issuer/],
    ["a token without an issuer", { claims: { iss: undefined } }, /issuer/],
    ["another audience", { claims: { aud: "https://files.example/mcp" } }, /another audience/],
    ["another path of the same origin", { claims: { aud: "https://hub.example/other" } }, /another audience/],
    ["a path that begins alike", { claims: { aud: `${HUB}x` } }, /another audience/],
    ["a path below the hub that is no endpoint", { claims: { aud: `${HUB}/wiki` } }, /another audience/],
    ["a path that leaves the hub", { claims: { aud: `${HUB}/../wiki/mcp` } }, /another audience/],
    ["an audience with a user", { claims: { aud: "https://ann@hub.example/tools/mcp" } }, /another audience/],
    ["an audience over http", { claims: { aud: "http://hub.example/tools/mcp" } }, /another audience/],
    ["an audience at another port", { claims: { aud: "https://hub.example:444/tools/mcp" } }, /another audience/],
    ["a token without an audience", { claims: { aud: undefined } }, /aud/],
    ["an expired token", { claims: { exp: NOW_S - 31 } }, /expired/],
    ["a token without an expiry", { claims: { exp: undefined } }, /exp/],
    ["an expiry that is a text", { claims: { exp: "never" } }, /exp|not valid/],
    ["a token that is not valid yet", { claims: { nbf: NOW_S + 31 } }, /not valid yet/],
    ["a token from the future", { claims: { iat: NOW_S + 31 } }, /future/],
    ["an ID token's type", { header: { typ: "JWT" } }, /not an access token/],
    ["an ID-JAG", { header: { typ: "oauth-id-jag+jwt" } }, /not an access token/],
    ["a token without a type", { header: { typ: undefined } }, /not an access token/],
    ["a token with an unusable thumbprint", { claims: { cnf: { jkt: "x" } } }, /bound to a key/],
    ["a token that is bound to a certificate", { claims: { cnf: { "x5t#S256": JKT } } }, /bound to a key/],
    ["a token with two confirmations", { claims: { cnf: { jkt: JKT, "x5t#S256": JKT } } }, /bound to a key/],
    ["a token that contains its key", { claims: { cnf: { jwk: { kty: "EC" } } } }, /bound to a key/],
    ["a token with an empty confirmation", { claims: { cnf: {} } }, /bound to a key/],
    ["a token with a text as confirmation", { claims: { cnf: JKT } }, /bound to a key/],
    ["a token without a subject", { claims: { sub: undefined } }, /sub/],
    ["a subject with a line break", { claims: { sub: "a\nb" } }, /sub/],
    ["a subject that is too long", { claims: { sub: "a".repeat(257) } }, /sub/],
    ["more groups than the limit", { claims: { realm_access: { roles: Array(1001).fill("g") } } }, /groups/],
    ["a token that is too long", { claims: { filler: "x".repeat(20_000) } }, /too long/],
  ])("%s", async (_, parts, reason) => {
    await expect(verifier().verify(await sign(parts))).rejects.toThrow(reason);
  });

  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const CLAIMS = encode({ iss: ISSUER, aud: `${HUB}/mcp`, sub: "ann", exp: NOW_S + 300 });
  const head = (alg: string, more = {}): string => encode({ alg, kid: "one", typ: "at+jwt", ...more });

  test.each(["none", "NONE", "nOnE", ""])("the algorithm %j", async (alg) => {
    await expect(verifier().verify(`${head(alg)}.${CLAIMS}.`)).rejects.toThrow(/not accepted|not valid/);
  });

  test("the provider's public key as a shared secret", async () => {
    const text = `${head("HS256")}.${CLAIMS}`;
    const forged = `${text}.${createHmac("sha256", publicPem).update(text).digest("base64url")}`;
    await expect(verifier().verify(forged)).rejects.toThrow("not accepted");
  });

  test("a key that the token's header contains", async () => {
    const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = own.publicKey.export({ format: "jwk" });
    for (const more of [{ jwk }, { jku: "https://evil.example/keys" }, { kid: "two", jwk }]) {
      const text = `${head("RS256", more)}.${CLAIMS}`;
      const signature = createSign("RSA-SHA256").update(text).sign(own.privateKey, "base64url");
      await expect(verifier().verify(`${text}.${signature}`)).rejects.toThrow(/not valid|unknown key/);
    }
  });

  test("an algorithm that is not configured, an unknown critical header, and text that is not a token", async () => {
    await expect(verifier({ algorithms: ["ES256"] }).verify(await sign())).rejects.toThrow("not accepted");
    const critical = `${head("RS256", { crit: ["b64"], b64: false })}.${CLAIMS}.AAAA`;
    for (const text of [critical, "", ".", "..", "a.b.c", `${"x".repeat(50)}`, `${(await sign()).slice(0, -4)}AAAA`])
      await expect(verifier().verify(text)).rejects.toThrow(/not valid|not accepted/);
  });
});

test("reads names, clients, groups and scopes in the forms of several providers", async () => {
  const read = async (claims: Parts["claims"]) => verifier().verify(await sign({ claims: { ...claims } }));
  expect(
    await read({ preferred_username: "Ann", azp: "web", realm_access: { roles: ["dev", 7] }, scope: "a b" }),
  ).toEqual({
    kind: "user",
    id: `${ISSUER}|user|ann`,
    name: "Ann",
    issuer: ISSUER,
    clientId: "web",
    groups: ["dev"],
    scopes: ["a", "b"],
    claims: expect.objectContaining({ preferred_username: "Ann" }),
    expiresAt: (NOW_S + 300) * 1000,
  });
  expect(await read({ scp: ["a"], email: "ann@example.com" })).toMatchObject({
    scopes: ["a"],
    name: "ann@example.com",
  });
  expect(await read({ scp: "a b", appid: "ann" })).toMatchObject({ kind: "client", id: `${ISSUER}|client|ann` });
  const { claims } = await read({ huge: "x".repeat(9000), small: 1 });
  expect([Object.hasOwn(claims, "huge"), claims["small"]]).toEqual([false, 1]);
});
