import { createHash, createHmac } from "node:crypto";
import { exportJWK } from "jose";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KeyHolder, type ProofParts } from "../../../../../test/auth/dpop-client.ts";
import { PROOF_ALGORITHMS } from "./algorithms.ts";
import { ProofVerifier, type ProvenRequest } from "./proof-verifier.ts";

const URL_OF_HUB = "https://hub.example/tools/mcp";
const TOKEN = "the-access-token";

let holder: KeyHolder;
let now: number;
let verifier: ProofVerifier;

beforeAll(async () => {
  holder = await KeyHolder.create();
});

beforeEach(() => {
  now = Date.now();
  verifier = new ProofVerifier({ now: () => now });
});

const request = (): ProvenRequest => ({
  method: "POST",
  url: URL_OF_HUB,
  tokenDigest: createHash("sha256").update(TOKEN).digest("base64url"),
  boundKey: holder.thumbprint,
});

const proof = (parts: ProofParts = {}, url = URL_OF_HUB): Promise<string> =>
  holder.proof("POST", url, { token: TOKEN, ...parts });

const seconds = (): number => Math.floor(now / 1000);

describe("a proof is accepted", () => {
  test.each(PROOF_ALGORITHMS)("with the algorithm %s, and its thumbprint is returned", async (alg) => {
    const own = await KeyHolder.create(alg);
    const text = await own.proof("POST", URL_OF_HUB, { token: TOKEN });
    expect(await verifier.verify(text, { ...request(), boundKey: own.thumbprint })).toBe(own.thumbprint);
  });

  test.each([
    ["a query", `${URL_OF_HUB}?session=1`],
    ["a fragment", `${URL_OF_HUB}#part`],
    ["a host in capitals", URL_OF_HUB.replace("hub.example", "HUB.Example")],
    ["a scheme in capitals", URL_OF_HUB.replace("https", "HTTPS")],
    ["the default port", URL_OF_HUB.replace("example", "example:443")],
    ["an escaped letter", URL_OF_HUB.replace("/mcp", "/%6dcp")],
    ["a path with dots", URL_OF_HUB.replace("/tools", "/x/../tools")],
  ])("for an address with %s", async (_, url) => {
    expect(await verifier.verify(await proof({}, url), request())).toBe(holder.thumbprint);
  });

  test.each([-299, 0, 299])("that was issued %i seconds after the clock of the hub", async (offset) => {
    const text = await proof({ claims: { iat: seconds() + offset } });
    expect(await verifier.verify(text, request())).toBe(holder.thumbprint);
  });

  test("without an access token at the token endpoint", async () => {
    const text = await holder.proof("POST", "https://hub.example/tools/token");
    const at = { method: "POST", url: "https://hub.example/tools/token" };
    expect(await verifier.verify(text, at)).toBe(holder.thumbprint);
  });
});

describe("a proof is refused", () => {
  const cases: readonly (readonly [string, () => ProofParts, RegExp])[] = [
    ["for another method", () => ({ claims: { htm: "GET" } }), /method/],
    ["for the method in another case", () => ({ claims: { htm: "post" } }), /method/],
    ["without a method", () => ({ claims: { htm: undefined } }), /method/],
    ["for another host", () => ({ claims: { htu: "https://evil.example/tools/mcp" } }), /address/],
    ["for the path without the base path", () => ({ claims: { htu: "https://hub.example/mcp" } }), /address/],
    ["for a path with a slash more", () => ({ claims: { htu: `${URL_OF_HUB}/` } }), /address/],
    ["for a path in another case", () => ({ claims: { htu: "https://hub.example/tools/MCP" } }), /address/],
    ["for another endpoint", () => ({ claims: { htu: "https://hub.example/tools/api" } }), /address/],
    ["for another scheme", () => ({ claims: { htu: "http://hub.example/tools/mcp" } }), /address/],
    ["for another port", () => ({ claims: { htu: "https://hub.example:444/tools/mcp" } }), /address/],
    ["for an address with a user", () => ({ claims: { htu: "https://a@hub.example/tools/mcp" } }), /address/],
    ["for an escaped slash", () => ({ claims: { htu: "https://hub.example/tools%2Fmcp" } }), /address/],
    ["for a path only", () => ({ claims: { htu: "/tools/mcp" } }), /address/],
    ["for a list of addresses", () => ({ claims: { htu: [URL_OF_HUB] } }), /address/],
    ["without an address", () => ({ claims: { htu: undefined } }), /address/],
    ["without a digest of the token", () => ({ claims: { ath: undefined } }), /access token/],
    ["for another access token", () => ({ token: "another" }), /access token/],
    ["with the access token itself as the digest", () => ({ claims: { ath: TOKEN } }), /access token/],
    ["without an id", () => ({ claims: { jti: undefined } }), /jti/],
    ["with an empty id", () => ({ claims: { jti: "" } }), /jti/],
    ["with a number as the id", () => ({ claims: { jti: 7 } }), /jti/],
    ["with an id that is too long", () => ({ claims: { jti: "x".repeat(513) } }), /jti/],
    ["without a time of issue", () => ({ claims: { iat: undefined } }), /iat/],
    ["with a text as the time of issue", () => ({ claims: { iat: "now" } }), /iat|not accepted/],
    ["that is too old", () => ({ claims: { iat: seconds() - 302 } }), /5 minutes/],
    ["from the future", () => ({ claims: { iat: seconds() + 302 } }), /5 minutes/],
    ["that has expired", () => ({ claims: { exp: seconds() - 1 } }), /not accepted/],
    ["with the type of an access token", () => ({ header: { typ: "at+jwt" } }), /not accepted/],
    ["with the type JWT", () => ({ header: { typ: "JWT" } }), /not accepted/],
    ["without a type", () => ({ header: { typ: undefined } }), /not accepted/],
    ["without a key", () => ({ header: { jwk: undefined } }), /not accepted/],
    ["with a key of another type", () => ({ header: { jwk: { kty: "oct", k: "AAAA" } } }), /not accepted/],
    ["with the address of a key", () => ({ header: { jwk: undefined, jku: "https://evil.example" } }), /not accepted/],
  ];
  test.each(cases)("%s", async (_, parts, reason) => {
    await expect(verifier.verify(await proof(parts()), request())).rejects.toThrow(reason);
  });

  test("with the private part of the key", async () => {
    const jwk = await exportJWK(holder.privateKey);
    await expect(verifier.verify(await proof({ header: { jwk } }), request())).rejects.toThrow("not accepted");
  });

  test("that another key has signed", async () => {
    const { privateKey } = await KeyHolder.create();
    await expect(verifier.verify(await proof({ signer: privateKey }), request())).rejects.toThrow("not accepted");
  });

  test("with no signature, and with a shared secret", async () => {
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const [, claims] = (await proof()).split(".");
    for (const alg of ["none", "None", "", "HS256"]) {
      const head = encode({ alg, typ: "dpop+jwt", jwk: holder.jwk });
      const secret = JSON.stringify(holder.jwk);
      for (const signature of ["", createHmac("sha256", secret).update(`${head}.${claims}`).digest("base64url")])
        await expect(verifier.verify(`${head}.${claims}.${signature}`, request())).rejects.toThrow("not accepted");
    }
  });

  test("of a key to which the access token is not bound", async () => {
    const other = await KeyHolder.create();
    const text = await other.proof("POST", URL_OF_HUB, { token: TOKEN });
    await expect(verifier.verify(text, request())).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("that was used before, also by concurrent requests", async () => {
    const text = await proof();
    const results = await Promise.allSettled([1, 2, 3].map(() => verifier.verify(text, request())));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(verifier.verify(text, request())).rejects.toThrow("used before");
  });

  test("that the header contains twice, that is too long, or that is no JWT", async () => {
    const text = await proof();
    await expect(verifier.verify(`${text}, ${await proof()}`, request())).rejects.toThrow("more than one");
    await expect(verifier.verify(await proof({ claims: { x: "y".repeat(9000) } }), request())).rejects.toThrow("long");
    for (const wrong of ["", ".", "..", "a.b.c", "proof", text.slice(0, -3), ` ${text}`])
      await expect(verifier.verify(wrong, request())).rejects.toThrow("not accepted");
  });

  test("without showing its text in the error", async () => {
    const text = await proof({ claims: { htu: "https://evil.example/canary", jti: "canary" } });
    await expect(verifier.verify(text, request())).rejects.toThrow(/^(?!.*canary)/s);
  });
});

describe("with nonces", () => {
  beforeEach(() => {
    verifier = new ProofVerifier({ now: () => now, nonceSecret: () => Buffer.alloc(32, 1) });
  });

  const nonceOf = async (): Promise<string> => {
    const error: unknown = await verifier.verify(await proof(), request()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "use_dpop_nonce", nonce: expect.any(String) });
    return (error as { readonly nonce: string }).nonce;
  };

  test("a proof needs the nonce of the error response, and a proof with another nonce is refused", async () => {
    const nonce = await nonceOf();
    await verifier.verify(await proof({ claims: { nonce } }), request());
    for (const wrong of ["", "guess", nonce.toLowerCase() === nonce ? nonce.toUpperCase() : nonce.toLowerCase()])
      await expect(verifier.verify(await proof({ claims: { nonce: wrong } }), request())).rejects.toMatchObject({
        code: "use_dpop_nonce",
      });
  });

  test("the error for an old nonce contains a new nonce", async () => {
    const nonce = await nonceOf();
    now += 4 * 60_000;
    const error: unknown = await verifier
      .verify(await proof({ claims: { nonce } }), request())
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "use_dpop_nonce" });
    expect((error as { readonly nonce: string }).nonce).not.toBe(nonce);
  });
});

describe("with other hubs", () => {
  const used = new Map<string, number>();
  const shared = {
    claim: async (id: string, ttlMs: number) => !used.has(id) && used.set(id, ttlMs).size > 0,
  };

  test("only the first hub accepts a proof, and its id is stored for as long as any hub could accept it", async () => {
    const [one, other] = [new ProofVerifier({ now: () => now, shared }), new ProofVerifier({ now: () => now, shared })];
    const text = await proof({ claims: { iat: seconds() + 100 } });
    expect(await one.verify(text, request())).toBe(holder.thumbprint);
    for (const hub of [other, one]) await expect(hub.verify(text, request())).rejects.toThrow("used before");
    expect(await other.verify(await proof(), request())).toBe(holder.thumbprint);
    expect(Math.max(...used.values())).toBeGreaterThan(600_000);
  });

  test("a proof is refused as rate-limited if the store of used proofs cannot be reached", async () => {
    const lost = { claim: () => Promise.reject(new Error("lost")) };
    const hub = new ProofVerifier({ now: () => now, shared: lost });
    await expect(hub.verify(await proof(), request())).rejects.toMatchObject({ name: "TooManyChecked" });
  });
});
