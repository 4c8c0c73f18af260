import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import {
  authorizationOf,
  clientOf,
  openYard,
  REDIRECT,
  register,
  signIn,
  Visitor,
  type Tokens,
} from "./builtin-yard.ts";
import { KeyHolder, type ProofParts } from "./dpop-client.ts";
import { challengeOf } from "./surface-calls.ts";

const SECRET = "a-secret-of-16-characters";
const MACHINES = { machines: { robot: { secret: SECRET } } };
const ROBOT = { authorization: `Basic ${Buffer.from(`robot:${SECRET}`).toString("base64")}` };

let holder: KeyHolder;
let toy: ToyHub;

beforeAll(async () => {
  [holder, toy] = await Promise.all([KeyHolder.create(), openYard(MACHINES)]);
}, 60_000);

afterAll(() => toy[Symbol.asyncDispose]());

const urlOf = (hub: ToyHub): string => hub.served.address.url;

interface TokenAnswer extends Tokens {
  readonly status: number;
  readonly nonce: string | null;
}

/** Sends a token request with a proof, or without one if `by` is absent. */
async function request(
  hub: ToyHub,
  body: Record<string, string>,
  { by, parts = {}, headers = {} }: { by?: KeyHolder; parts?: ProofParts; headers?: Record<string, string> } = {},
): Promise<TokenAnswer> {
  const proof = by && (await by.proof("POST", `${urlOf(hub)}/token`, parts));
  const answer = await hub.fetch("/token", {
    method: "POST",
    headers: { ...headers, ...(proof !== undefined && { dpop: proof }) },
    body: new URLSearchParams(body),
  });
  return { ...((await answer.json()) as Tokens), status: answer.status, nonce: answer.headers.get("dpop-nonce") };
}

const visitors = new WeakMap<ToyHub, Visitor>();

/** Signs Ann in, and returns the request that redeems the code. */
async function codeOf(hub: ToyHub, client: string, more: Record<string, string> = {}): Promise<Record<string, string>> {
  const visitor = visitors.get(hub) ?? new Visitor(hub);
  visitors.set(hub, visitor);
  const authorization = authorizationOf(hub, client, more);
  const code = (await signIn(hub, authorization, visitor)).searchParams.get("code") ?? "";
  return {
    grant_type: "authorization_code",
    client_id: client,
    code,
    code_verifier: authorization.verifier,
    redirect_uri: REDIRECT,
  };
}

async function whoStatus(hub: ToyHub, token = "", by?: KeyHolder): Promise<number> {
  const bearer = { authorization: `Bearer ${token}` };
  const headers = by ? await by.headers(token, "GET", `${urlOf(hub)}/whoami`) : bearer;
  return (await hub.fetch("/whoami", { headers })).status;
}

describe("a client that proves its key", () => {
  test("gets a bound token for a code, which is of no use without the key", async () => {
    const client = await clientOf(toy);
    const tokens = await request(toy, await codeOf(toy, client), { by: holder });
    expect(tokens).toMatchObject({ status: 200, token_type: "DPoP" });
    expect(await whoStatus(toy, tokens.access_token, holder)).toBe(200);
    expect(await whoStatus(toy, tokens.access_token)).toBe(401);
    expect(await whoStatus(toy, tokens.access_token, await KeyHolder.create())).toBe(401);
  });

  test("renews its tokens with the same key; another key, and none, are refused", async () => {
    const client = await clientOf(toy);
    const tokens = await request(toy, await codeOf(toy, client), { by: holder });
    const body = { grant_type: "refresh_token", client_id: client, refresh_token: tokens.refresh_token ?? "" };
    expect(await request(toy, body, { by: await KeyHolder.create() })).toMatchObject({ error: "invalid_grant" });
    expect(await request(toy, body)).toMatchObject({ error: "invalid_grant" });
    const renewed = await request(toy, body, { by: holder });
    expect(renewed).toMatchObject({ status: 200, token_type: "DPoP" });
    expect(await whoStatus(toy, renewed.access_token, holder)).toBe(200);
  });

  test("binds the code to its key, so that another key cannot redeem it", async () => {
    const client = await clientOf(toy);
    const code = await codeOf(toy, client, { dpop_jkt: holder.thumbprint });
    expect(await request(toy, code, { by: await KeyHolder.create() })).toMatchObject({ error: "invalid_grant" });
    const other = await codeOf(toy, client, { dpop_jkt: holder.thumbprint });
    expect(await request(toy, other, { by: holder })).toMatchObject({ token_type: "DPoP" });
  });

  test("gets a bound token as a machine, by a proof that works once", async () => {
    const body = { grant_type: "client_credentials", scope: "mcp", resource: `${urlOf(toy)}/mcp` };
    const proof = await holder.proof("POST", `${urlOf(toy)}/token`);
    const send = async (): Promise<Tokens> => {
      const init = { method: "POST", headers: { ...ROBOT, dpop: proof }, body: new URLSearchParams(body) };
      return (await (await toy.fetch("/token", init)).json()) as Tokens;
    };
    const answers = await Promise.all([send(), send(), send()]);
    const tokens = answers.filter((answer) => answer.access_token !== undefined);
    expect(tokens).toHaveLength(1);
    expect(await whoStatus(toy, tokens[0]!.access_token, holder)).toBe(200);
    expect(await whoStatus(toy, tokens[0]!.access_token)).toBe(401);
    expect(await send()).toMatchObject({ error: "invalid_grant" });
  });

  test("is refused with a proof for another address, another method, or without an id", async () => {
    const body = { grant_type: "client_credentials", scope: "mcp", resource: `${urlOf(toy)}/mcp` };
    const wrong: readonly JsonObject[] = [
      { htu: `${urlOf(toy)}/mcp` },
      { htu: "http://evil.example/token" },
      { htm: "GET" },
      { jti: undefined },
      { iat: 1 },
    ];
    for (const claims of wrong)
      expect(await request(toy, body, { by: holder, parts: { claims }, headers: ROBOT })).toMatchObject({
        error: "invalid_dpop_proof",
      });
  });

  test("reads `/whoami` and calls `/revoke`, after which the token is refused", async () => {
    const client = await clientOf(toy);
    const tokens = await request(toy, await codeOf(toy, client), { by: holder });
    expect(await whoStatus(toy, tokens.access_token, holder)).toBe(200);
    const body = new URLSearchParams({ token: tokens.access_token ?? "", client_id: client });
    expect((await toy.fetch("/revoke", { method: "POST", body })).status).toBe(200);
    await expect.poll(() => whoStatus(toy, tokens.access_token, holder)).toBe(401);
  });
});

describe("a client that does not prove a key", () => {
  test("gets a bearer token, unless its registration requires bound tokens", async () => {
    const usual = await clientOf(toy);
    expect(await request(toy, await codeOf(toy, usual))).toMatchObject({ token_type: "Bearer" });
    const strict = await clientOf(toy, { dpop_bound_access_tokens: true });
    const code = await codeOf(toy, strict);
    expect(await request(toy, code)).toMatchObject({ error: "invalid_grant" });
    expect(await request(toy, code, { by: holder })).toMatchObject({ token_type: "DPoP" });
  });

  test("reads the algorithms of proofs in the metadata of the authorization server", async () => {
    const metadata = await toy.fetch("/.well-known/oauth-authorization-server");
    expect(await metadata.json()).toMatchObject({
      dpop_signing_alg_values_supported: ["ES256", "ES384", "ES512", "PS256", "RS256", "EdDSA", "Ed25519"],
    });
  });
});

describe("with `require_dpop`", () => {
  test("issues no bearer token for any registration, and refuses such tokens", async () => {
    await using strict = await openYard(MACHINES, {
      auth: { modes: ["builtin"], builtin: MACHINES, require_dpop: true },
    });
    const client = await clientOf(strict);
    const code = await codeOf(strict, client);
    expect(await request(strict, code)).toMatchObject({ error: "invalid_grant" });
    const tokens = await request(strict, code, { by: holder });
    expect([tokens.token_type, await whoStatus(strict, tokens.access_token, holder)]).toEqual(["DPoP", 200]);
    const machine = { grant_type: "client_credentials", scope: "mcp", resource: `${urlOf(strict)}/mcp` };
    expect(await request(strict, machine, { headers: ROBOT })).toMatchObject({ error: "invalid_grant" });
    expect(await request(strict, machine, { headers: ROBOT, by: holder })).toMatchObject({ token_type: "DPoP" });
    expect((await register(strict, { dpop_bound_access_tokens: false })).status).toBe(201);
    const lax = await clientOf(strict, { dpop_bound_access_tokens: false });
    const bearer = await request(strict, await codeOf(strict, lax));
    expect([bearer.error ?? (await whoStatus(strict, bearer.access_token))]).not.toEqual([200]);
  });
});

describe("with `dpop_nonce`", () => {
  test("the token endpoint and the hub each require a nonce", async () => {
    await using strict = await openYard(MACHINES, {
      auth: { modes: ["builtin"], builtin: MACHINES, dpop_nonce: true },
    });
    const body = { grant_type: "client_credentials", scope: "mcp", resource: `${urlOf(strict)}/mcp` };
    const refused = await request(strict, body, { headers: ROBOT, by: holder });
    expect(refused).toMatchObject({ status: 400, error: "use_dpop_nonce", nonce: expect.any(String) });
    const parts = { claims: { nonce: refused.nonce } };
    const tokens = await request(strict, body, { headers: ROBOT, by: holder, parts });
    expect(tokens).toMatchObject({ status: 200, token_type: "DPoP" });
    const url = `${urlOf(strict)}/whoami`;
    const first = await strict.fetch("/whoami", { headers: await holder.headers(tokens.access_token!, "GET", url) });
    expect(challengeOf(first, "DPoP")["error"]).toBe("use_dpop_nonce");
    const claims = { nonce: first.headers.get("dpop-nonce") };
    const headers = await holder.headers(tokens.access_token!, "GET", url, { claims });
    expect((await strict.fetch("/whoami", { headers })).status).toBe(200);
    expect(await request(strict, body, { headers: ROBOT })).toMatchObject({ status: 200, token_type: "Bearer" });
  });
});
