import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { discover } from "./discovery.ts";
import { SignInNetwork } from "./network.ts";

const ROOT = "/.well-known/oauth-protected-resource";

let server: Server;
let origin: string;
/** Documents that the test server returns, by path and query. */
let documents: Record<string, object>;
let asked: string[];

beforeEach(async () => {
  [documents, asked] = [{}, []];
  server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const found = documents[url];
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((closed) => server.close(closed)));

/** Adds an authorization server at a path, and resource metadata that name this server. */
function describeIssuer(name: string): string {
  const issuer = `${origin}/${name}`;
  documents[`/.well-known/oauth-authorization-server/${name}`] = { issuer, token_endpoint: `${issuer}/token` };
  return issuer;
}

async function issuerOf(path: string, metadata?: string): Promise<string> {
  const url = new URL(`${origin}${path}`);
  const network = new SignInNetwork({ label: "far", url, trusted: [], environment: {} });
  try {
    const challenge = metadata === undefined ? undefined : { metadata };
    return (await discover({ label: "far", url }, challenge, network)).server.issuer;
  } finally {
    await network.close();
  }
}

const describeResource = (at: string, resource: string, issuer: string): void =>
  void (documents[`${ROOT}${at}`] = { resource: `${origin}${resource}`, authorization_servers: [issuer] });

test.each([
  ["a path and a query", "/mcp?tenant=a", "/mcp?tenant=a"],
  ["a query without a value", "/mcp?login", "/mcp?login"],
  ["a query and no path", "/?tenant=a", "?tenant=a"],
  ["a query with signs of its own", "/a/b?x=1&y=%2Fz", "/a/b?x=1&y=%2Fz"],
  ["a path that ends with a slash", "/mcp/?t=1", "/mcp/?t=1"],
])("looks up the metadata of a resource with %s at an address that keeps the query", async (_, path, at) => {
  describeResource("", "/", describeIssuer("wrong"));
  describeResource(at, path, describeIssuer("own"));
  expect(await issuerOf(path)).toBe(`${origin}/own`);
  expect(asked[0]).toBe(`${ROOT}${at}`);
});

test("keeps the issuers of two tenants at one path separate", async () => {
  for (const name of ["a", "b"]) describeResource(`/mcp?tenant=${name}`, `/mcp?tenant=${name}`, describeIssuer(name));
  expect([await issuerOf("/mcp?tenant=a"), await issuerOf("/mcp?tenant=b")]).toEqual([`${origin}/a`, `${origin}/b`]);
});

test.each([
  ["without the query", "/mcp", "/mcp"],
  ["at the root", "", "/"],
])("falls back to metadata %s", async (_, at, resource) => {
  describeResource(at, resource, describeIssuer("own"));
  expect(await issuerOf("/mcp?tenant=a")).toBe(`${origin}/own`);
});

test("refuses metadata of a resource with another query", async () => {
  describeResource("/mcp?tenant=a", "/mcp?tenant=b", describeIssuer("own"));
  await expect(issuerOf("/mcp?tenant=a")).rejects.toThrow(/serves metadata of another resource/);
});

test("requests the address in the challenge before all others", async () => {
  describeResource("/mcp?tenant=a", "/mcp?tenant=a", describeIssuer("own"));
  describeResource("/named", "/mcp", describeIssuer("named"));
  expect(await issuerOf("/mcp?tenant=a", `${origin}${ROOT}/named`)).toBe(`${origin}/named`);
});

test("requests each address once if the resource has neither path nor query", async () => {
  describeIssuer("unused");
  expect(await issuerOf("/")).toBe(origin);
  expect(asked.filter((one) => one.startsWith(ROOT))).toEqual([ROOT]);
});
