import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { KeyIssuer } from "./key-issuer.ts";
import { RealProvider } from "./real-provider.ts";

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

let provider: RealProvider;
let issuer: KeyIssuer;

beforeAll(async () => {
  [provider, issuer] = await Promise.all([RealProvider.start(), KeyIssuer.start()]);
}, 60_000);

afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

function open(url: string, more: JsonObject = {}, settings: JsonObject = {}): Promise<ToyHub> {
  const auth = { modes: ["issuer"], issuer: { url, ...more } };
  return ToyHub.open(FEATURES, { auth, ...settings });
}

describe("oidc-provider as the provider", () => {
  test("its JWTs are accepted by the hub that they were issued for, and by no other", async () => {
    await using toy = await open(provider.url);
    const token = await provider.token("robot", `${toy.served.address.url}/mcp`);
    const answer = await toy.call("meta.ping", {}, bearer(token));
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("pong")]);
    const other = await provider.token("robot", "https://files.example/mcp");
    expect((await toy.call("meta.ping", {}, bearer(other))).status).toBe(401);
    const opaque = await provider.token("opaque", `${toy.served.address.url}/mcp`);
    expect((await toy.call("meta.ping", {}, bearer(opaque))).status).toBe(401);
  });

  test("its opaque tokens are accepted by introspection, unless they were revoked", async () => {
    const how = { verify: "introspection", client_id: "hub", client_secret: "hub-secret" };
    await using toy = await open(provider.url, how);
    const url = toy.served.address.url;
    const [token, revoked] = await Promise.all([provider.token("opaque", url), provider.token("opaque", url)]);
    await provider.revoke("opaque", revoked);
    expect((await toy.call("meta.ping", {}, bearer(token))).status).toBe(200);
    expect((await toy.call("meta.ping", {}, bearer(revoked))).status).toBe(401);
    expect((await toy.call("meta.ping", {}, bearer(await provider.token("opaque", "https://a.example")))).status).toBe(
      401,
    );
  });

  test("admits no caller if introspection uses a wrong secret", async () => {
    const how = { verify: "introspection", client_id: "hub", client_secret: "wrong" };
    await using toy = await open(provider.url, how);
    const token = await provider.token("opaque", toy.served.address.url);
    const answer = await toy.call("meta.ping", {}, bearer(token));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  });
});

describe.each([1, 2])("a legacy session with %i worker(s)", (workers) => {
  async function begin(toy: ToyHub, token: string): Promise<string> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const begun = await toy.fetch("/mcp", {
      method: "POST",
      headers: { ...JSON_HEADERS, ...bearer(token) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
    });
    return begun.headers.get("mcp-session-id")!;
  }

  const ping = async (toy: ToyHub, session: string, token: string): Promise<number> => {
    const answer = await toy.fetch("/mcp", {
      method: "POST",
      headers: { ...JSON_HEADERS, "mcp-session-id": session, ...bearer(token) },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    return answer.status;
  };

  test("continues with a refreshed token, and answers 404 to another identity", async () => {
    await using toy = await open(issuer.url, {}, { server: { workers } });
    const sign = (claims: JsonObject): Promise<string> => issuer.sign(toy.served.address.url, { claims });
    const session = await begin(toy, await sign({ jti: "first" }));
    expect(await ping(toy, session, await sign({ jti: "refreshed", scope: "more" }))).toBe(200);
    expect(await ping(toy, session, await sign({ sub: "bob" }))).toBe(404);
    expect(await ping(toy, session, await sign({ sub: "ann", client_id: "ann" }))).toBe(404);
    expect(await ping(toy, session, await sign({ exp: 1 }))).toBe(401);
    expect(await ping(toy, session, await sign({}))).toBe(200);
  }, 30_000);

  test("has a standalone stream that ends when its token expires", async () => {
    await using toy = await open(issuer.url, {}, { server: { workers } });
    const url = toy.served.address.url;
    const session = await begin(toy, await issuer.sign(url));
    const short = await issuer.sign(url, { claims: { exp: Math.floor(Date.now() / 1000) + 1 } });
    const stream = await toy.fetch("/mcp", {
      headers: { accept: "text/event-stream", "mcp-session-id": session, ...bearer(short) },
    });
    expect(stream.status).toBe(200);
    await stream.text();
    expect(await ping(toy, session, await issuer.sign(url))).toBe(200);
  }, 30_000);
});

test("no request to an upstream server carries the caller's token", async () => {
  const seen: string[] = [];
  const upstream = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    request.resume().on("end", () => response.writeHead(404).end());
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
  await using toy = await open(issuer.url, {}, { mcp: { remote_servers: [{ alias: "far", url }] } });
  const token = await issuer.sign(toy.served.address.url);
  await toy.call("far.echo", {}, bearer(token));
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  expect(seen.join("\n")).not.toContain(token.split(".")[2]);
  upstream.closeAllConnections();
  upstream.close();
});
