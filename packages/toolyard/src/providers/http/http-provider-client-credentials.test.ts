import { afterEach, expect, test } from "vitest";
import { startLegacy } from "../../../../../test/fixtures/http-servers.ts";
import { CLIENT, startTokenServer, type TokenServer } from "../../../../../test/fixtures/token-server.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { Deadline } from "../../core/calls/deadline.ts";
import { OptionError } from "../../core/errors.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import type { Provider } from "../../core/sources/provider.ts";
import { createHttpProvider } from "./http-provider.ts";
import { RemoteServerSchema, resolveRemoteServer, type RemoteServerConfig } from "./options.ts";

type Auth = NonNullable<RemoteServerConfig["auth"]>;

const providers: Provider[] = [];

afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.close()));
});

const authAt = (tokens: Pick<TokenServer, "url">, more: Partial<Auth> = {}): Auth => ({
  type: "client_credentials",
  token_url: tokens.url,
  ...CLIENT,
  ...more,
});

function open(url: string, auth: Auth): Provider {
  const source = { id: "far", kind: "http", namespace: "far", order: 0 } as const;
  const provider = createHttpProvider({
    source,
    options: resolveRemoteServer({ url, auth }),
    environment: {},
    hideFor: () => {},
    logger: SILENT_LOGGER,
  });
  providers.push(provider);
  provider.open();
  return provider;
}

async function echo(provider: Provider, text: string): Promise<Outcome> {
  const tool = (await provider.listing()).tools.find(({ name }) => name === "echo");
  if (!tool) throw new Error("There is no tool.");
  const deadline = new Deadline({ idleMs: 10_000, totalMs: 10_000 });
  const outcome = await provider.call({
    id: "call-1",
    endpoint: "test",
    method: "tools/call",
    target: "echo",
    params: {},
    arguments: { text },
    meta: {},
    principal: LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: {} },
    signal: deadline.signal,
    deadline,
    wants: { progress: false },
    notify: () => {},
    ask: () => Promise.reject(new Error("nobody to ask")),
    relaysInput: false,
    record: { type: "tool", tool },
  });
  deadline.clear();
  return outcome;
}

const says = (text: string): object => ({ ok: true, result: { content: [{ type: "text", text }] } });

test.each(["basic", "post"] as const)(
  "C21: uses a server that requires a token of its authorization server (%s)",
  async (clientAuth) => {
    await using tokens = await startTokenServer();
    await using server = await startLegacy({ accepts: tokens.accepts });
    expect(
      await echo(open(server.url, authAt(tokens, { client_auth: clientAuth, scope: "tools" })), "in"),
    ).toMatchObject(says("in"));
    expect(server.seen.every(({ headers }) => headers.authorization === `Bearer ${tokens.issued[0]}`)).toBe(true);
    expect(tokens.forms.map((form) => form.get("scope"))).toEqual(["tools"]);
  },
);

test("C21: an unknown client needs authorisation, and sends the server no request", async () => {
  await using tokens = await startTokenServer();
  await using server = await startLegacy({ accepts: tokens.accepts });
  const provider = open(server.url, authAt(tokens, { client_secret: "wr0ng-secret" }));
  expect((await provider.listing()).tools).toEqual([]);
  expect(provider.status()).toMatchObject({
    state: "needs_authorisation",
    lastError: expect.stringContaining("invalid_client: No client hub client with ***"),
  });
  expect(JSON.stringify(provider.status())).not.toContain("wr0ng");
  expect(server.seen).toEqual([]);
});

test("C21: makes the server unavailable while its authorization server is unreachable", async () => {
  const gone = await startTokenServer();
  await gone.close();
  await using server = await startLegacy({ accepts: (given) => given !== undefined });
  const provider = open(server.url, authAt(gone));
  const appeared = new Promise<void>((resolve) => void provider.events.changed.on(resolve));
  expect((await provider.listing()).tools).toEqual([]);
  expect(provider.status()).toMatchObject({ state: "down", lastError: expect.stringContaining("correct `token_url`") });
  await using _tokens = await startTokenServer({ port: gone.port });
  await appeared;
  expect(await echo(provider, "now")).toMatchObject(says("now"));
});

test("C21: renews a token that the server no longer accepts, and repeats the same call", async () => {
  await using tokens = await startTokenServer();
  await using server = await startLegacy({ json: true, accepts: tokens.accepts });
  const provider = open(server.url, authAt(tokens));
  await echo(provider, "before");
  tokens.revoke();
  expect(await echo(provider, "after")).toMatchObject(says("after"));
  expect(tokens.issued).toHaveLength(2);
});

test("C21: repeats each of 20 calls that are refused for one expired token, and fetches one token", async () => {
  await using tokens = await startTokenServer();
  await using server = await startLegacy({ mode: "stateless", json: true, accepts: tokens.accepts });
  const provider = open(server.url, authAt(tokens));
  await echo(provider, "before");
  expect(tokens.issued).toHaveLength(1);
  tokens.revoke();
  const texts = Array.from({ length: 20 }, (_, index) => `call ${index}`);
  expect(await Promise.all(texts.map((text) => echo(provider, text)))).toMatchObject(texts.map(says));
  expect(tokens.issued).toHaveLength(2);
});

test("C21: needs authorisation after one renewal if the server refuses the renewed token too", async () => {
  await using tokens = await startTokenServer();
  let isClosed = false;
  await using server = await startLegacy({
    mode: "stateless",
    json: true,
    accepts: (given) => !isClosed && tokens.accepts(given),
  });
  const provider = open(server.url, authAt(tokens));
  await echo(provider, "before");
  const [asked, issued] = [server.seen.length, tokens.issued.length];
  isClosed = true;
  const outcome = await echo(provider, "after");
  expect(outcome).toMatchObject({ ok: false, kind: "needs_authorisation", retryable: false });
  expect([server.seen.length - asked, tokens.issued.length - issued]).toEqual([2, 1]);
  expect(JSON.stringify([outcome, provider.status()])).not.toMatch(/acc3ss|cl1ent/);
});

test("S11: sends the client's secret only to the token endpoint, and the token only to its server", async () => {
  await using tokens = await startTokenServer();
  await using server = await startLegacy({ accepts: tokens.accepts });
  const provider = open(server.url, authAt(tokens));
  await echo(provider, "x");
  expect(JSON.stringify(server.seen)).not.toMatch(/cl1ent|Basic/);
  expect(JSON.stringify(tokens.seen)).not.toContain("acc3ss");
  expect(JSON.stringify([provider.status(), await provider.listing()])).not.toMatch(/acc3ss|cl1ent/);
});

const whole: Auth = {
  type: "client_credentials",
  token_url: "https://auth.test/token",
  client_id: "me",
  client_secret: "s3cret",
};
const refused: [string, Partial<RemoteServerConfig>, RegExp][] = [
  ["no token_url", { auth: { ...whole, token_url: "" } }, /needs `token_url`/],
  [
    "no client_id",
    { auth: { type: "client_credentials", token_url: "https://auth.test/token", client_secret: "s3cret" } },
    /needs `client_id`/,
  ],
  [
    "no client_secret",
    { auth: { type: "client_credentials", token_url: "https://auth.test/token", client_id: "me" } },
    /needs `client_secret`/,
  ],
  ["a token_url that is none", { auth: { ...whole, token_url: "auth.test" } }, /`auth.token_url` is no address/],
  [
    "a token_url without TLS",
    { auth: { ...whole, token_url: "http://auth.test/token?key=s3cret" } },
    /must begin with https:\/\/.*auth\.test, which is not this machine/,
  ],
  [
    "a password in token_url",
    { auth: { ...whole, token_url: "https://me:s3cret@auth.test/" } },
    /user name or a password/,
  ],
  ["a resource that is no URI", { auth: { ...whole, resource: "mine" } }, /`auth.resource` must be an absolute URI/],
  [
    "an unknown client_auth",
    { auth: { ...whole, client_auth: "jwt" as never } },
    /must be one of basic, post, private_key_jwt, got "jwt"/,
  ],
  ["a token beside it", { token: "s3cret", auth: whole }, /`token` and `auth`/],
  ["a token within it", { auth: { ...whole, token: "s3cret" } }, /takes no `token`/],
  [
    "a client of a bearer token",
    { auth: { type: "bearer", token: "s3cret", client_id: "me" } },
    /takes no `client_id`/,
  ],
  [
    "an Authorization header",
    { auth: whole, headers: { Authorization: "s3cret" } },
    /`headers` and `auth` both set `authorization`/,
  ],
  ["a type that is none", { auth: { type: "magic" as never } }, /got "magic"/],
];

test.each(refused)("C21: rejects %s with an error that names the option and shows no secret", (_, options, message) => {
  const resolve = (): unknown => resolveRemoteServer({ url: "https://far.test/mcp", ...options });
  expect(resolve).toThrow(OptionError);
  expect(resolve).toThrow(message);
  expect(resolve).not.toThrow(/s3cret/);
});

test("C21: accepts a local token endpoint without TLS, and marks the secret option as secret", () => {
  const { clientCredentials, headers } = resolveRemoteServer({
    url: "http://a/",
    auth: { ...whole, token_url: "http://localhost:1/token#x" },
  });
  expect(clientCredentials).toEqual({
    tokenUrl: "http://localhost:1/token",
    clientId: "me",
    clientSecret: "s3cret",
    clientAuth: "basic",
  });
  expect(headers).toEqual({});
  expect(RemoteServerSchema.properties.auth.properties.client_secret.writeOnly).toBe(true);
});
