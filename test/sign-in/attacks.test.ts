// Attacks on a sign-in by servers, pages and intermediaries, each with the corresponding valid case.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { BrowserGuard } from "../../packages/toolyard/src/signin/browser-guard.ts";
import { discover } from "../../packages/toolyard/src/signin/discovery.ts";
import { SignInNetwork } from "../../packages/toolyard/src/signin/network.ts";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { sendJson, startServer } from "../fixtures/http-servers.ts";
import { openTarget } from "../security/attack.ts";
import { ServeChild } from "../support/serve-child.ts";
import { Home } from "./harness.ts";

/** Starts a listener that counts connections of any protocol. */
async function startTrap(): Promise<{ readonly port: number; readonly seen: string[] } & AsyncDisposable> {
  const seen: string[] = [];
  const server = createServer((socket) => {
    seen.push("connected");
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, seen, [Symbol.asyncDispose]: async () => void server.close() };
}

test("parameters in the issuer's address do not change the target of the code", async () => {
  await using auth = await startAuthServer();
  const planted = new URLSearchParams({
    redirect_uri: "https://evil.example/",
    client_id: "evil",
    state: "known",
    code_challenge: "known",
    resource: "https://evil.example/mcp",
  });
  auth.switches.metadata = { authorization_endpoint: `${auth.url}/authorize?tenant=a&${planted}` };
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const asked = auth.authorized[0]!.searchParams;
  for (const name of planted.keys()) expect(asked.getAll(name)).toEqual([expect.not.stringMatching(/evil|known/)]);
  expect(asked.get("tenant")).toBe("a");
});

test("no page redirects to an address in the request; only the sign-in form redirects, to the issuer", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openTarget({ mcp: { remote_servers: [{ alias: "far", url: server.url }] } });
  const to = "https://evil.example/";
  const host = { host: `127.0.0.1:${hub.port}` };
  for (const path of [
    `/oauth/callback?redirect_uri=${to}&next=${to}&state=a&code=b`,
    `/oauth/callback?error=x&error_uri=${to}`,
    `/sign-in?source=far&next=${to}&return_to=${to}`,
    `/sign-in/${encodeURIComponent(to)}`,
    "//evil.example/sign-in",
    "/sign-in//evil.example",
    "/\\evil.example/oauth/callback",
  ]) {
    const answer = await hub.send({ method: "GET", path, headers: host });
    expect([path, answer.headers.location]).toEqual([path, undefined]);
    expect(answer.body).not.toContain("evil.example");
  }
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const sent = await hub.send({ path: "/sign-in", headers: { ...host, ...type }, body: `source=far&next=${to}` });
  expect(new URL(sent.headers.location!).origin).toBe(auth.url);
});

test.each(["http://127.0.0.1", "https://127.0.0.1", "https://localhost", "https://[::ffff:7f00:1]", "https://0x7f.1"])(
  "requests no metadata from an address that a public server names at %s",
  async (origin) => {
    await using trap = await startTrap();
    const url = new URL("https://mcp.example.com/mcp");
    const network = new SignInNetwork({ label: "far", url, trusted: [], environment: {} });
    const metadata = `${origin}:${trap.port}/.well-known/oauth-protected-resource`;
    await expect(discover({ label: "far", url }, { metadata }, network)).rejects.toThrow(
      /is not used|is not on the public internet/,
    );
    expect(trap.seen).toEqual([]);
    await network.close();
  },
);

test("requests metadata from a private address that a local server names", async () => {
  await using trap = await startTrap();
  const url = new URL("http://127.0.0.1:1/mcp");
  const network = new SignInNetwork({ label: "far", url, trusted: [], environment: {} });
  const metadata = `http://127.0.0.1:${trap.port}/.well-known/oauth-protected-resource`;
  await expect(discover({ label: "far", url }, { metadata }, network)).rejects.toThrow();
  expect(trap.seen.length).toBeGreaterThan(0);
  await network.close();
});

test("the hub does not fetch its own client ID metadata document", async () => {
  await using trap = await startTrap();
  await using auth = await startAuthServer({ metadata: { client_id_metadata_document_supported: true } });
  await using server = await startProtected(auth);
  await using home = new Home();
  const document = `https://127.0.0.1:${trap.port}/client.json`;
  const { client } = await home.login({ url: server.url, auth: { type: "oauth", client_metadata_url: document } });
  expect(client).toMatchObject({ id: document, from: "document" });
  expect(trap.seen).toEqual([]);
});

test.each<[string, RegExp]>([
  ["issuer", /has no metadata/],
  ["registration_endpoint", /did not register/],
  ["token_endpoint", /nothing that is a token/],
])("sends nothing to the target of a redirect of the %s", async (member, words) => {
  await using elsewhere = await startServer((_, response) => sendJson(response, 200, {}), { path: "" });
  const sendOn: RequestListener = (_, response) => void response.writeHead(307, { location: elsewhere.url }).end();
  await using front = await startServer(sendOn, { path: "" });
  await using auth = await startAuthServer({ metadata: { [member]: front.url } });
  const url = member === "issuer" ? front.url : auth.url;
  await using server = await startProtected({ url, accepts: () => false });
  await using home = new Home();
  await expect(home.login({ url: server.url })).rejects.toThrow(words);
  expect(front.seen.length).toBeGreaterThan(0);
  expect(elsewhere.seen).toEqual([]);
});

test.each<[string, string | string[]]>([
  ["in two lines", ['Basic realm="x"', 'Bearer scope="right"']],
  ["in one line", 'Negotiate, Basic realm="a, Bearer scope=\\"wrong\\"", Bearer scope="right"'],
  ["with one of ours twice", 'Bearer scope="right", Bearer scope="wrong", scope="wrong"'],
])("reads the Bearer challenge from a header with several schemes %s", async (_, challenge) => {
  await using auth = await startAuthServer();
  await using server = await startServer((request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource"))
      return sendJson(response, 200, { resource: server.url, authorization_servers: [auth.url] });
    response.writeHead(401, { "www-authenticate": challenge }).end();
  });
  await using home = new Home();
  await home.login({ url: server.url });
  expect(auth.authorized[0]!.searchParams.get("scope")).toBe("right");
});

test("the browser's cookie is limited to one host if the hub has https", async () => {
  const guard = new BrowserGuard({ source: "far", principal: "ann" });
  guard.leadTo("https://issuer.example/authorize", "https://hub.example.com/oauth/callback");
  const cookie = guard.pass().headers["set-cookie"]!;
  expect(cookie).toMatch(/^__Host-toolyard-sign-in-.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/);
  const pair = cookie.split(";")[0]!;
  expect(guard.admits({ cookie: `a=b; ${pair}` })).toBe(true);
  expect(guard.admits({ cookie: pair.replace("__Host-", "") })).toBe(false);
  const local = new BrowserGuard({ source: "far", principal: "ann" });
  local.leadTo("http://127.0.0.1:1/authorize", "http://127.0.0.1:2/oauth/callback");
  expect(local.pass().headers["set-cookie"]).toMatch(/^toolyard-sign-in-.+; Path=\/oauth\/callback; HttpOnly/);
});

test("with workers a browser can return through any worker, and only that browser", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using served = await ServeChild.start({
    config: { mcp: { remote_servers: [{ alias: "far", url: server.url }] } },
    args: ["--workers", "2"],
  });
  const at = (path: string): string => new URL(path, served.url).href;
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    // Uses a new connection each time, so that each may reach another worker.
    fetch(at(path), { redirect: "manual", ...init, headers: { connection: "close", ...init.headers } });
  const begun = await send("/sign-in", { method: "POST", body: new URLSearchParams({ source: "far" }) });
  const cookie = begun.headers.get("set-cookie")!.split(";")[0]!;
  const back = (await fetch(begun.headers.get("location")!, { redirect: "manual" })).headers.get("location")!;
  const path = back.slice(new URL(back).origin.length);
  const statuses = [];
  for (const headers of [{}, {}, { cookie }, { cookie }] as Record<string, string>[])
    statuses.push((await send(path, { headers })).status);
  expect(statuses).toEqual([403, 403, 200, 400]);
  expect(auth.asked).toHaveLength(1);
});
