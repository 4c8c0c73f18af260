import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startAuthServer, startProtected, type Switches } from "../fixtures/auth-server.ts";
import { readJson, sendJson, startServer } from "../fixtures/http-servers.ts";
import { login } from "../../packages/toolyard/src/signin/login.ts";
import { echo, Home, says, visit } from "./harness.ts";

test("signs in to a server that requires it, and uses it from then on", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  expect(await echo(home.open({ url: server.url }), "in")).toMatchObject(says("in"));
});

test("before the sign-in, reports that it is required and names the command", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = home.open({ url: server.url });
  expect((await provider.listing()).tools.map(({ name }) => name)).toEqual(["sign_in"]);
  expect(provider.status()).toMatchObject({
    state: "needs_authorisation",
    lastError: expect.stringContaining("Sign in with `toolyard login far`"),
  });
});

test("a running hub detects a sign-in", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = home.open({ url: server.url });
  await provider.listing();
  await home.login({ url: server.url });
  await expect.poll(() => provider.status().state, { timeout: 30_000 }).toBe("ready");
  expect(await echo(provider, "in")).toMatchObject(says("in"));
});

test("the code flow has PKCE, state, the resource and the scopes of the challenge", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth, { scope: "tools:read tools:call" });
  await using home = new Home();
  await home.login({ url: server.url });
  const asked = Object.fromEntries(auth.authorized[0]!.searchParams);
  expect(asked).toMatchObject({
    response_type: "code",
    client_id: "client-1",
    code_challenge_method: "S256",
    resource: server.url,
    scope: "tools:read tools:call",
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
  });
  expect(asked["state"]!.length).toBeGreaterThan(40);
  expect(Object.fromEntries(auth.asked[0]!.form)).toMatchObject({ resource: server.url, client_id: "client-1" });
});

test("registers once as a native client, and uses the same redirect address the next time", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await home.login({ url: server.url });
  expect(auth.registered).toHaveLength(1);
  expect(auth.registered[0]).toMatchObject({
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
  });
  const [first, second] = auth.authorized.map((url) => url.searchParams.get("redirect_uri"));
  expect(second).toBe(first);
});

test("does not register a configured client", async () => {
  await using auth = await startAuthServer({ registration: undefined });
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url, auth: { type: "oauth", client_id: "own" } });
  expect(auth.authorized[0]!.searchParams.get("client_id")).toBe("own");
});

const refusals: readonly [string, Partial<Switches>, RegExp][] = [
  ["registers nobody", { registration: undefined, metadata: { registration_endpoint: undefined } }, /redirect address/],
  ["calls itself otherwise", { issuer: "https://other.example" }, /set `issuer`/],
  ["does not announce PKCE", { metadata: { code_challenge_methods_supported: undefined } }, /PKCE/],
  ["has a token endpoint without https", { metadata: { token_endpoint: "http://tokens.example/" } }, /https/],
  ["has an address that is no web address", { metadata: { authorization_endpoint: "file:///etc/passwd" } }, /https/],
];

test.each(refusals)("does not use an authorization server that %s", async (_, switches, words) => {
  await using auth = await startAuthServer(switches);
  await using server = await startProtected(auth);
  await using home = new Home();
  const shown: string[] = [];
  const signingIn = home.login({ url: server.url }, async (address) => void shown.push(address));
  await expect(signingIn).rejects.toThrow(words);
  expect([shown, auth.asked]).toEqual([[], []]);
});

test("refuses metadata of another resource; accepts them with `resource`", async () => {
  await using auth = await startAuthServer();
  const resource = "https://elsewhere.example/mcp";
  await using server = await startProtected(auth, { resource });
  await using home = new Home();
  await expect(home.login({ url: server.url })).rejects.toThrow(/serves metadata of another resource/);
  await home.login({ url: server.url, auth: { type: "oauth", resource } });
  expect(auth.asked[0]!.form.get("resource")).toBe(resource);
});

test("a configured issuer may differ from the address at which its metadata are found", async () => {
  const issuer = "https://issuer.example";
  await using auth = await startAuthServer({ issuer });
  await using server = await startProtected(auth);
  await using home = new Home();
  expect((await home.login({ url: server.url, auth: { type: "oauth", issuer } })).server.issuer).toBe(issuer);
});

test.each<[string, Record<string, string | undefined>, Partial<Switches>]>([
  ["of another issuer", { iss: "https://evil.example" }, {}],
  ["of an issuer with a slash more", { iss: "SLASH" }, {}],
  ["without the issuer that was announced", {}, { metadata: { authorization_response_iss_parameter_supported: true } }],
  ["that is a refusal", { error: "access_denied", code: undefined }, {}],
])("does not redeem an authorization response %s", async (_, redirect, switches) => {
  await using auth = await startAuthServer(switches);
  auth.switches.redirect = redirect["iss"] === "SLASH" ? { iss: `${auth.url}/` } : redirect;
  await using server = await startProtected(auth);
  await using home = new Home();
  await expect(home.login({ url: server.url })).rejects.toMatchObject({ failure: { kind: "needs_authorisation" } });
  expect(auth.asked).toEqual([]);
});

test("redeems an authorization response that names the expected issuer", async () => {
  await using auth = await startAuthServer({ metadata: { authorization_response_iss_parameter_supported: true } });
  auth.switches.redirect = { iss: auth.url };
  await using server = await startProtected(auth);
  await using home = new Home();
  expect((await home.login({ url: server.url })).tokens).toBeDefined();
});

test("ignores an answer with another state, and still accepts the right one", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const statuses: number[] = [];
  await home.login({ url: server.url }, async (address) => {
    const own = new URL(address).searchParams.get("redirect_uri")!;
    statuses.push((await fetch(`${own}?code=stolen&state=foreign`)).status);
    await visit(address);
  });
  expect(statuses).toEqual([400]);
  expect(auth.asked.map(({ form }) => form.get("code"))).not.toContain("stolen");
});

test("accepts the browser's return once", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const statuses: number[] = [];
  await home.login({ url: server.url }, async (address) => {
    const { headers } = await fetch(address, { redirect: "manual" });
    const answers = await Promise.all([1, 2].map(() => fetch(headers.get("location")!)));
    statuses.push(...answers.map(({ status }) => status));
  });
  expect(statuses.toSorted()).toEqual([200, 400]);
  expect(auth.asked).toHaveLength(1);
});

test("serves no page under another host name of this machine", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const { request } = await import("node:http");
  const statuses: (number | undefined)[] = [];
  await home.login({ url: server.url }, async (address) => {
    const own = new URL(new URL(address).searchParams.get("redirect_uri")!);
    await new Promise<void>((resolve) => {
      request({ port: own.port, path: "/callback?code=a", headers: { host: "evil.example" } }, (response) => {
        statuses.push(response.statusCode);
        response.resume().on("end", resolve);
      }).end();
    });
    await visit(address);
  });
  expect(statuses).toEqual([403]);
});

test("stores tokens encrypted in one file of their owner, with the key next to it", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const files = readdirSync(home.folder);
  expect(files.toSorted()).toEqual(["key", "vault.json"]);
  for (const file of files) {
    const path = join(home.folder, file);
    for (const secret of auth.secrets) expect(readFileSync(path, "utf8")).not.toContain(secret);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

test("a sign-in does not apply to a source of the same name at another address", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using other = await startProtected({ url: auth.url, accepts: () => false });
  await using home = new Home();
  await home.login({ url: server.url });
  const provider = home.open({ url: other.url });
  await provider.listing();
  expect(provider.status().state).toBe("needs_authorisation");
  expect(other.seen.flatMap(({ headers }) => headers["authorization"] ?? [])).toEqual([]);
});

test("detects a server that requires sign-in only at the second request, in either era", async () => {
  await using auth = await startAuthServer();
  for (const status of [200, 400]) {
    await using server = await startServer((request, response) => {
      void readJson(request).then(({ method }) => {
        if (request.url?.startsWith("/.well-known/oauth-protected-resource"))
          return sendJson(response, 200, {
            resource: `http://${request.headers.host}/mcp`,
            authorization_servers: [auth.url],
            scopes_supported: ["profile"],
          });
        if (method === "initialize") return sendJson(response, status, { jsonrpc: "2.0", id: 0, result: {} });
        return sendJson(response, 401, {}, { "www-authenticate": 'Bearer scope="basic"' });
      });
    });
    await using home = new Home();
    await home.login({ url: server.url });
    expect(auth.authorized.at(-1)!.searchParams.get("scope")).toBe("basic");
  }
});

test("accepts the pasted address of a remote browser, and ignores other pasted text before it", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const pastes = ["http://127.0.0.1/?state=another&code=none"];
  const record = await login(home.context({ url: server.url }), {
    challenge: undefined,
    show: async (address) => {
      const { headers } = await fetch(address, { redirect: "manual" });
      pastes.push(`  ${headers.get("location")}\n`);
    },
    pasted: async () => pastes.shift() ?? new Promise<never>(() => {}),
    signal: AbortSignal.timeout(30_000),
  });
  expect(auth.accepts(`Bearer ${record.tokens?.access}`)).toBe(true);
});
