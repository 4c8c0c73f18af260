import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { featureList } from "../../packages/toolyard/src/kernel/feature-list.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { KeyHolder, type ProofParts } from "./dpop-client.ts";
import { json, KeyIssuer } from "./key-issuer.ts";
import { SCOPED_TOOL } from "./scoped-tool.ts";
import { challengeOf, SURFACES, type Credentials } from "./surface-calls.ts";

const ALGORITHMS = "ES256 ES384 ES512 PS256 RS256 EdDSA Ed25519";

let issuer: KeyIssuer;
let holder: KeyHolder;

beforeAll(async () => {
  [issuer, holder] = await Promise.all([KeyIssuer.start(), KeyHolder.create()]);
});

afterAll(() => issuer[Symbol.asyncDispose]());

function open(server: JsonObject = {}, auth: JsonObject = {}): Promise<ToyHub> {
  return ToyHub.open(featureList([...FEATURES, SCOPED_TOOL]), {
    server: { jsonrpc: true, ...server },
    auth: { modes: ["issuer"], issuer: { url: issuer.url }, ...auth },
  });
}

const urlOf = (toy: ToyHub): string => toy.served.address.url;

/** Signs an access token that is bound to the key of `holder`. */
function boundToken(toy: ToyHub, claims: JsonObject = {}): Promise<string> {
  return issuer.sign(urlOf(toy), { claims: { cnf: { jkt: holder.thumbprint }, ...claims } });
}

/** Returns the credentials of a client with the key: the token, and a new proof for each request. */
function proving(toy: ToyHub, token: string, parts: ProofParts = {}): Credentials {
  return (method, path) => holder.headers(token, method, `${urlOf(toy)}${path}`, parts);
}

describe.each([
  ["one process", {}],
  ["workers and a base path", { workers: 2, base_path: "/tools" }],
] as const)("with %s", (_, server) => {
  let toy: ToyHub;

  beforeAll(async () => {
    toy = await open(server);
  }, 60_000);

  afterAll(() => toy[Symbol.asyncDispose]());

  describe.each(Object.entries(SURFACES))("%s", (_name, call) => {
    test("serves a caller with a bound token and a proof", async () => {
      const answer = await call(toy, "meta.ping", proving(toy, await boundToken(toy)));
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("pong")]);
    });

    test("refuses a bound token as a bearer token, with a proof and without", async () => {
      const token = await boundToken(toy);
      for (const prove of [false, true]) {
        const answer = await call(toy, "meta.ping", async (method, path) => ({
          ...(prove && (await proving(toy, token)(method, path))),
          authorization: `Bearer ${token}`,
        }));
        expect([answer.status, challengeOf(answer)["error"]]).toEqual([401, "invalid_token"]);
        expect(challengeOf(answer, "DPoP")).toMatchObject({ algs: ALGORITHMS });
      }
    });

    test("refuses a token with a proof that is missing, for another address, or for another token", async () => {
      const token = await boundToken(toy);
      const wrong: readonly Credentials[] = [
        () => ({ authorization: `DPoP ${token}` }),
        (method) => holder.headers(token, method, `${urlOf(toy)}/elsewhere`),
        (_method, path) => holder.headers(token, "DELETE", `${urlOf(toy)}${path}`),
        proving(toy, token, { token: "another" }),
      ];
      for (const by of wrong) {
        const answer = await call(toy, "meta.ping", by);
        const { error, algs, resource_metadata: metadata } = challengeOf(answer, "DPoP");
        expect([answer.status, error, algs]).toEqual([401, "invalid_dpop_proof", ALGORITHMS]);
        expect(metadata).toContain("/.well-known/oauth-protected-resource");
        expect(challengeOf(answer, "Bearer")["error"]).toBeUndefined();
      }
    });

    test("names all scopes of the operation in the challenge of both schemes", async () => {
      const answer = await call(toy, "meta.get_server_status", proving(toy, await boundToken(toy, { scope: "read" })));
      expect(answer.status).toBe(403);
      for (const scheme of ["Bearer", "DPoP"] as const)
        expect(challengeOf(answer, scheme)).toMatchObject({ error: "insufficient_scope", scope: "status read" });
    });
  });

  test("accepts each proof once, also when requests arrive at the same time", async () => {
    const token = await boundToken(toy);
    const headers = await holder.headers(token, "GET", `${urlOf(toy)}/whoami`);
    const answers = await Promise.all(Array.from({ length: 6 }, () => toy.fetch("/whoami", { headers })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401, 401]);
    const again = await toy.fetch("/whoami", { headers });
    expect([again.status, challengeOf(again, "DPoP")["error"]]).toEqual([401, "invalid_dpop_proof"]);
    const fresh = await holder.headers(token, "GET", `${urlOf(toy)}/whoami`);
    expect((await toy.fetch("/whoami", { headers: fresh })).status).toBe(200);
  });

  test("guards the OpenAPI document, `/status`, resources of the endpoint's path and HTTP+SSE", async () => {
    const token = await boundToken(toy);
    for (const path of ["/openapi.json", "/status", "/api/tools?cursor=x", "/whoami"]) {
      const [address = ""] = path.split("?");
      const headers = await holder.headers(token, "GET", `${urlOf(toy)}${address}`);
      expect([path, (await toy.fetch(path, { headers })).status]).not.toEqual([path, 401]);
      expect((await toy.fetch(path, { headers })).status).toBe(401);
    }
    const headers = await holder.headers(token, "GET", `${urlOf(toy)}/sse`);
    const ending = new AbortController();
    const stream = await toy.fetch("/sse", {
      headers: { ...headers, accept: "text/event-stream" },
      signal: ending.signal,
    });
    expect(stream.status).toBe(200);
    ending.abort();
    expect((await toy.fetch("/sse", { headers: { ...headers, accept: "text/event-stream" } })).status).toBe(401);
  });

  test("requires the address of the hub in a proof, for any `Host` of the request", async () => {
    const { port } = new URL(urlOf(toy));
    const statusWith = async (host: string, url: string): Promise<number> =>
      statusOf(`${urlOf(toy)}/whoami`, { host, ...(await holder.headers(await boundToken(toy), "GET", url)) });
    expect(await statusWith(`localhost:${port}`, `${urlOf(toy)}/whoami`)).toBe(200);
    expect(await statusWith(`localhost:${port}`, `${urlOf(toy).replace("127.0.0.1", "localhost")}/whoami`)).toBe(401);
    expect(await statusWith("evil.example", "http://evil.example/whoami")).toBe(403);
  });

  test("refuses two proofs in one request, and a proof of another key", async () => {
    const token = await boundToken(toy);
    const url = `${urlOf(toy)}/whoami`;
    const [one, two] = await Promise.all([holder.proof("GET", url, { token }), holder.proof("GET", url, { token })]);
    expect(await statusOf(url, { authorization: `DPoP ${token}`, dpop: [one, two] })).toBe(401);
    const other = await KeyHolder.create();
    const answer = await toy.fetch("/whoami", { headers: await other.headers(token, "GET", url) });
    expect([answer.status, challengeOf(answer, "DPoP")["error"]]).toEqual([401, "invalid_token"]);
  });

  test("refuses an unbound token with the scheme DPoP, and accepts it as a bearer token next to a proof", async () => {
    const token = await issuer.sign(urlOf(toy));
    const headers = await holder.headers(token, "GET", `${urlOf(toy)}/whoami`);
    const answer = await toy.fetch("/whoami", { headers });
    expect([answer.status, challengeOf(answer, "DPoP")["error"]]).toEqual([401, "invalid_token"]);
    const asBearer = { ...headers, authorization: `Bearer ${token}` };
    for (const _time of [1, 2]) expect((await toy.fetch("/whoami", { headers: asBearer })).status).toBe(200);
  });

  test("does not accept a verified bound token as a bearer token, however often it was verified", async () => {
    const token = await boundToken(toy);
    const url = `${urlOf(toy)}/whoami`;
    for (const _time of [1, 2, 3]) {
      expect((await toy.fetch("/whoami", { headers: await holder.headers(token, "GET", url) })).status).toBe(200);
      expect((await toy.fetch("/whoami", { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    }
  });

  test("lists the algorithms in the metadata, and lets pages send proofs", async () => {
    const { origin, pathname } = new URL(urlOf(toy));
    const address = `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}/mcp`;
    const document = (await (await fetch(address)).json()) as JsonObject;
    expect(document["dpop_signing_alg_values_supported"]).toEqual(ALGORITHMS.split(" "));
    expect(document).not.toHaveProperty("dpop_bound_access_tokens_required");
    const page = { origin: "https://app.example", "access-control-request-method": "GET" };
    const preflight = await fetch(address, { method: "OPTIONS", headers: page });
    expect(preflight.headers.get("access-control-allow-headers")).toContain("dpop");
  });
});

/** `fetch` sends no custom `Host` and joins repeated headers. */
function statusOf(url: string, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("with `require_dpop`", () => {
  test("bearer tokens are refused with a DPoP challenge only, and static tokens stay valid", async () => {
    const tokens = { ci: { token: "a-static-token" } };
    await using toy = await open({ tokens }, { modes: ["tokens", "issuer"], require_dpop: true });
    const url = `${urlOf(toy)}/whoami`;
    const bearer = async (token: string): Promise<Response> =>
      toy.fetch("/whoami", { headers: { authorization: `Bearer ${token}` } });
    const refused = await bearer(await issuer.sign(urlOf(toy)));
    expect([refused.status, challengeOf(refused, "DPoP")["error"]]).toEqual([401, "invalid_token"]);
    expect(refused.headers.get("www-authenticate")).toMatch(/^DPoP (?!.*Bearer)/);
    expect((await toy.fetch("/whoami")).headers.get("www-authenticate")).toMatch(/^DPoP (?!.*(Bearer|error))/);
    expect((await bearer("a-static-token")).status).toBe(200);
    const headers = await holder.headers(await boundToken(toy), "GET", url);
    expect((await toy.fetch("/whoami", { headers })).status).toBe(200);
    const metadata = await fetch(challengeOf(refused, "DPoP")["resource_metadata"]!);
    expect(await metadata.json()).toMatchObject({ dpop_bound_access_tokens_required: true });
  });
});

describe.each([1, 2])("with `dpop_nonce` and %i worker(s)", (workers) => {
  test("a proof needs the nonce that the refusal contains", async () => {
    await using toy = await open({ workers }, { dpop_nonce: true });
    const token = await boundToken(toy);
    const url = `${urlOf(toy)}/whoami`;
    const send = async (claims: JsonObject = {}): Promise<Response> =>
      toy.fetch("/whoami", { headers: await holder.headers(token, "GET", url, { claims }) });
    const refused = await send();
    const nonce = refused.headers.get("dpop-nonce");
    expect([refused.status, challengeOf(refused, "DPoP")["error"]]).toEqual([401, "use_dpop_nonce"]);
    expect((await send({ nonce })).status).toBe(200);
    expect((await send({ nonce: "another" })).headers.get("dpop-nonce")).toBe(nonce);
  });
});

describe("introspection", () => {
  test.each<[string, JsonObject, "DPoP" | "Bearer" | undefined]>([
    ["a bound token", { token_type: "DPoP", cnf: () => ({ jkt: holder.thumbprint }) }, "DPoP"],
    ["a bound token whose type the provider omits", { cnf: () => ({ jkt: holder.thumbprint }) }, "DPoP"],
    ["a bearer token", { token_type: "Bearer" }, "Bearer"],
    ["a bearer token with an empty confirmation", { cnf: () => null }, "Bearer"],
    ["a token of type DPoP without a key", { token_type: "DPoP" }, undefined],
    ["a token that is bound to a certificate", { cnf: () => ({ "x5t#S256": "a" }) }, undefined],
    ["a token with an unusable thumbprint", { cnf: () => ({ jkt: "short" }) }, undefined],
    ["a token with two confirmations", { cnf: () => ({ jkt: holder.thumbprint, "x5t#S256": "a" }) }, undefined],
  ])("of %s decides the scheme", async (_, { cnf, ...members }, scheme) => {
    const how = { url: issuer.url, verify: "introspection", client_id: "hub", client_secret: "secret" };
    await using toy = await open({}, { issuer: how });
    const confirmation = typeof cnf === "function" ? { cnf: (cnf as () => unknown)() } : {};
    const answer = { active: true, sub: "ann", aud: urlOf(toy), ...members, ...confirmation };
    issuer.answers.set("/who", (response) => json(response, answer));
    const url = `${urlOf(toy)}/whoami`;
    const bearer = await toy.fetch("/whoami", { headers: { authorization: "Bearer opaque" } });
    const dpop = await toy.fetch("/whoami", { headers: await holder.headers("opaque", "GET", url) });
    expect([bearer.status, dpop.status]).toEqual([scheme === "Bearer" ? 200 : 401, scheme === "DPoP" ? 200 : 401]);
  });
});
