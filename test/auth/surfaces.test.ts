import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { featureList } from "../../packages/toolyard/src/kernel/feature-list.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { KeyIssuer } from "./key-issuer.ts";
import { SCOPED_TOOL } from "./scoped-tool.ts";
import { challengeOf, SURFACES } from "./surface-calls.ts";

const FEATURES_WITH_SCOPES = featureList([...FEATURES, SCOPED_TOOL]);
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

let issuer: KeyIssuer;

beforeAll(async () => {
  issuer = await KeyIssuer.start();
});

afterAll(() => issuer[Symbol.asyncDispose]());

function open(server: JsonObject = {}, auth: JsonObject = {}): Promise<ToyHub> {
  return ToyHub.open(FEATURES_WITH_SCOPES, {
    server: { jsonrpc: true, ...server },
    auth: { modes: ["issuer"], issuer: { url: issuer.url }, ...auth },
  });
}

function bearer(token?: string): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
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

  describe.each(Object.entries(SURFACES))("%s", (name, surface) => {
    const call = (toy: ToyHub, tool: string, token?: string): Promise<Response> =>
      surface(toy, tool, () => bearer(token));
    const mount = name.startsWith("MCP") ? "/mcp" : name === "REST" ? "/api/tools" : "/jsonrpc";

    test("serves a caller with a token for this hub", async () => {
      const answer = await call(toy, "meta.ping", await issuer.sign(`${toy.served.address.url}/mcp`));
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("pong")]);
    });

    test("challenges a caller without a token, and names the metadata of its endpoint", async () => {
      const answer = await call(toy, "meta.ping");
      const { error, resource_metadata: metadata } = challengeOf(answer);
      expect([answer.status, error]).toEqual([401, undefined]);
      const document = (await (await fetch(metadata!)).json()) as JsonObject;
      expect(document).toMatchObject({
        resource: `${toy.served.address.url}${mount}`,
        authorization_servers: [issuer.url],
        bearer_methods_supported: ["header"],
      });
    });

    test("challenges a token for another audience with `invalid_token`", async () => {
      const answer = await call(toy, "meta.ping", await issuer.sign("https://files.example/mcp"));
      expect([answer.status, challengeOf(answer)["error"]]).toEqual([401, "invalid_token"]);
    });

    test("answers 403 with all scopes that the operation requires if one is missing", async () => {
      const url = toy.served.address.url;
      const narrow = await issuer.sign(url, { claims: { scope: "read" } });
      const answer = await call(toy, "meta.get_server_status", narrow);
      expect([answer.status, challengeOf(answer)]).toEqual([
        403,
        expect.objectContaining({
          error: "insufficient_scope",
          scope: "status read",
          resource_metadata: expect.stringContaining("/.well-known/oauth-protected-resource"),
        }),
      ]);
      expect((await call(toy, "meta.ping", narrow)).status).toBe(200);
      const wide = await issuer.sign(url, { claims: { scope: "read status" } });
      expect((await call(toy, "meta.get_server_status", wide)).status).toBe(200);
    });
  });

  test("guards the OpenAPI document, `/status` and HTTP+SSE in the same way", async () => {
    const token = await issuer.sign(toy.served.address.url);
    for (const path of ["/openapi.json", "/status"]) {
      const refused = await toy.fetch(path);
      expect([refused.status, challengeOf(refused)["resource_metadata"]]).toEqual([401, expect.stringContaining(path)]);
      expect((await toy.fetch(path, { headers: bearer(token) })).status).toBe(200);
    }
    expect((await toy.fetch("/sse", { headers: { accept: "text/event-stream" } })).status).toBe(401);
    const document = await (await toy.fetch("/openapi.json", { headers: bearer(token) })).json();
    expect(document).toMatchObject({
      security: [{ oauth: [] }],
      components: { securitySchemes: { oauth: { type: "openIdConnect" } } },
    });
  });

  test("serves metadata to pages of every origin, and lets these pages read the challenge", async () => {
    const { origin, pathname } = new URL(toy.served.address.url);
    const basePath = pathname === "/" ? "" : pathname;
    const metadata = `${origin}/.well-known/oauth-protected-resource${basePath}/mcp`;
    const headers = { origin: "https://app.example" };
    const answer = await fetch(metadata, { headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    expect(answer.headers.get("access-control-expose-headers")).toContain("www-authenticate");
    const preflight = await fetch(metadata, {
      method: "OPTIONS",
      headers: {
        ...headers,
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version",
      },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
      204,
      expect.stringContaining("mcp-protocol-version"),
    ]);
    expect((await toy.fetch("/mcp", { method: "POST", headers })).status).toBe(403);
  });

  test("returns the same metadata for any `Host` header", async () => {
    const { origin, pathname, port } = new URL(toy.served.address.url);
    const basePath = pathname === "/" ? "" : pathname;
    const path = `/.well-known/oauth-protected-resource${basePath}/mcp`;
    const usual = await (await fetch(origin + path)).text();
    expect(await readWithHost(origin + path, `localhost:${port}`)).toEqual([200, usual]);
    const [status, text] = await readWithHost(origin + path, "evil.example");
    expect([status, text]).toEqual([403, expect.not.stringContaining("authorization_servers")]);
  });

  test("has no metadata for paths that need no token, and for paths that do not exist", async () => {
    const { origin, pathname } = new URL(toy.served.address.url);
    const basePath = pathname === "/" ? "" : pathname;
    for (const path of ["/nowhere", "/oauth/callback", "/mcpx"])
      expect((await fetch(`${origin}/.well-known/oauth-protected-resource${basePath}${path}`)).status).toBe(404);
    const own = await fetch(`${origin}/.well-known/oauth-protected-resource${basePath}`);
    expect(await own.json()).toMatchObject({ resource: toy.served.address.url });
  });
});

/** `fetch` cannot send a custom `Host`. */
function readWithHost(url: string, host: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve([answer.statusCode ?? 0, Buffer.concat(chunks).toString()]);
    })
      .on("error", reject)
      .end();
  });
}

describe("configured scopes", () => {
  test("are named by the 401, required by each request, and listed in the metadata", async () => {
    await using toy = await open({}, { scopes: ["mcp", "team"] });
    const url = toy.served.address.url;
    const refused = await toy.call("meta.ping");
    expect([refused.status, challengeOf(refused)["scope"]]).toEqual([401, "mcp team"]);
    const narrow = await toy.call("meta.ping", {}, bearer(await issuer.sign(url, { claims: { scope: "mcp" } })));
    expect([narrow.status, challengeOf(narrow)]).toEqual([
      403,
      expect.objectContaining({ error: "insufficient_scope", scope: "mcp team" }),
    ]);
    const whole = await issuer.sign(url, { claims: { scope: "team mcp" } });
    expect((await toy.call("meta.ping", {}, bearer(whole))).status).toBe(200);
    const metadata = await fetch(challengeOf(refused)["resource_metadata"]!);
    expect(await metadata.json()).toMatchObject({ scopes_supported: ["mcp", "team"] });
  });
});

describe("static tokens", () => {
  test('stay valid if an issuer is configured too, and are refused if `modes` omits "tokens"', async () => {
    const tokens = { ci: { token: "static-token" } };
    await using toy = await open({ tokens }, { modes: ["tokens", "issuer"] });
    expect((await toy.call("meta.ping", {}, bearer("static-token"))).status).toBe(200);
    expect((await toy.call("meta.ping", {}, bearer("static-tokem"))).status).toBe(401);
    const signed = await issuer.sign(toy.served.address.url);
    expect((await toy.call("meta.ping", {}, bearer(signed))).status).toBe(200);
    await expect(open({ tokens })).rejects.toThrow('does not contain "tokens"');
  });
});

describe("a configuration with incomplete checks is refused", () => {
  test.each<[string, JsonObject, RegExp]>([
    ["without the provider", { modes: ["issuer"] }, /no `\[auth\.issuer\]`/],
    ["a provider over http", { issuer: { url: "http://login.example" } }, /must be an address/],
    ["a password in the address", { issuer: { url: "https://a:b@login.example" } }, /must be an address/],
    [
      "introspection without credentials",
      { issuer: { url: "https://a.example", verify: "introspection" } },
      /client_id/,
    ],
    ["a symmetric algorithm", { issuer: { url: "https://a.example", algorithms: ["HS256"] } }, /algorithms/],
    ["an endless clock skew", { clock_skew: "1h" }, /clock_skew/],
  ])("%s", async (_, auth, reason) => {
    await expect(ToyHub.open(FEATURES_WITH_SCOPES, { auth: { modes: ["issuer"], ...auth } })).rejects.toThrow(reason);
  });

  test("an address beyond loopback without `public_url`", async () => {
    await expect(open({ host: "0.0.0.0" })).rejects.toThrow("server.public_url");
    await using toy = await open({ host: "0.0.0.0", public_url: "https://hub.example/tools", base_path: "/tools" });
    const refused = await toy.call("meta.ping");
    expect(challengeOf(refused)["resource_metadata"]).toBe(
      "https://hub.example/.well-known/oauth-protected-resource/tools/api/tools",
    );
    const signed = await issuer.sign("https://hub.example/tools/mcp");
    expect((await toy.call("meta.ping", {}, bearer(signed))).status).toBe(200);
    expect((await toy.call("meta.ping", {}, bearer(await issuer.sign(toy.served.address.url)))).status).toBe(401);
  });
});

describe("profiles", () => {
  test.each([1, 2])("have metadata and challenges at their own address, with %i worker(s)", async (workers) => {
    await using toy = await ToyHub.open(FEATURES_WITH_SCOPES, {
      server: { workers },
      profiles: { team: { tools: ["meta.*"] } },
      auth: { modes: ["issuer"], issuer: { url: issuer.url } },
    });
    const url = toy.served.address.url;
    const refused = await toy.fetch("/mcp/team", { method: "POST", headers: JSON_HEADERS, body: "{}" });
    const { resource_metadata: metadata } = challengeOf(refused);
    expect([refused.status, metadata]).toEqual([401, `${url}/.well-known/oauth-protected-resource/mcp/team`]);
    expect(await (await fetch(metadata!)).json()).toMatchObject({ resource: `${url}/mcp/team` });
    const signed = await issuer.sign(`${url}/mcp/team`, { claims: { scope: "read" } });
    const answer = await toy.fetch("/mcp/team/api/tools/meta.get_server_status", {
      method: "POST",
      headers: { ...JSON_HEADERS, ...bearer(signed) },
      body: "{}",
    });
    expect([answer.status, challengeOf(answer)["resource_metadata"]]).toEqual([
      403,
      `${url}/.well-known/oauth-protected-resource/mcp/team/api/tools`,
    ]);
  });
});
