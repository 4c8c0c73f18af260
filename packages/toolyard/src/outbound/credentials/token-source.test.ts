import type { RequestListener } from "node:http";
import { afterEach, expect, test } from "vitest";
import { sendJson, startServer, type RunningServer } from "../../../../../test/fixtures/http-servers.ts";
import { CLIENT, startTokenServer } from "../../../../../test/fixtures/token-server.ts";
import { failureOf } from "../../../../../test/fixtures/transport-peer.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import { HttpClient } from "../client/http-client.ts";
import { DEFAULT_LIFETIME_MS } from "./token-answer.ts";
import { TokenSource, type ClientCredentials } from "./token-source.ts";

const sources: TokenSource[] = [];
const { signal } = new AbortController();

afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.close()));
});

interface TestSource {
  readonly source: TokenSource;
  readonly clock: { now: number };
  readonly hidden: (readonly string[])[];
}

function make(server: Pick<RunningServer, "url">, credentials: Partial<ClientCredentials> = {}): TestSource {
  const clock = { now: 0 };
  const hidden: (readonly string[])[] = [];
  const client = new HttpClient({
    label: "far",
    url: new URL(server.url),
    headers: {},
    caFiles: [],
    connectTimeoutMs: 2000,
    maxConnections: 1,
  });
  const own: ClientCredentials = {
    tokenUrl: server.url,
    clientId: CLIENT.client_id,
    clientSecret: CLIENT.client_secret,
    clientAuth: "basic",
    ...credentials,
  };
  const source = new TokenSource({
    label: "far",
    credentials: own,
    client,
    onTokens: (tokens) => void hidden.push(tokens),
    now: () => clock.now,
  });
  sources.push(source);
  return { source, clock, hidden };
}

test("C21: sends id and secret as form-encoded HTTP Basic, and requests only the configured scopes", async () => {
  await using server = await startTokenServer();
  expect(await make(server).source.token(signal)).toBe(server.issued[0]);
  expect(server.seen[0]?.headers.authorization).toBe(
    `Basic ${Buffer.from("hub+client:cl1ent%3As3cret%2F%C3%BC").toString("base64")}`,
  );
  expect(Object.fromEntries(server.forms[0]!)).toEqual({ grant_type: "client_credentials" });
});

test("C21: sends id and secret in the form, with scope and resource", async () => {
  await using server = await startTokenServer();
  const { source } = make(server, {
    clientAuth: "post",
    scope: "tools:read tools:call",
    resource: "https://mcp.example.com/mcp",
  });
  await source.token(signal);
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
  expect(Object.fromEntries(server.forms[0]!)).toEqual({
    grant_type: "client_credentials",
    scope: "tools:read tools:call",
    resource: "https://mcp.example.com/mcp",
    ...CLIENT,
  });
});

test("C21: concurrent callers share one token request", async () => {
  await using server = await startTokenServer();
  const { source } = make(server);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => source.token(new AbortController().signal)));
  expect(new Set(tokens)).toEqual(new Set(server.issued));
  expect(server.seen).toHaveLength(1);
});

test("C21: continues the request for the other callers if one cancels", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using server = await startTokenServer({ before: () => held });
  const { source } = make(server);
  const controller = new AbortController();
  const impatient = source.token(controller.signal);
  const patient = source.token(signal);
  controller.abort(new Error("enough"));
  await expect(impatient).rejects.toMatchObject({ failure: { kind: "cancelled", cause: new Error("enough") } });
  release();
  expect(await patient).toBe(server.issued[0]);
});

test.each<[unknown, number]>([
  [3600, 3_570_000],
  ["3600", 3_570_000],
  [40, 20_000],
  [undefined, DEFAULT_LIFETIME_MS - 30_000],
  ["soon", DEFAULT_LIFETIME_MS - 30_000],
  [1e9, 24 * 3_600_000 - 30_000],
])("C21: keeps a token with expires_in %s for %i ms, then renews it", async (expiresIn, keptMs) => {
  await using server = await startTokenServer({ expiresIn });
  const { source, clock } = make(server);
  await source.token(signal);
  clock.now = keptMs - 1;
  await source.token(signal);
  expect(server.issued).toHaveLength(1);
  clock.now = keptMs;
  expect(await source.token(signal)).toBe(server.issued[1]);
});

test("C21: renews a dropped token, and does not drop a replaced token twice", async () => {
  await using server = await startTokenServer();
  const { source } = make(server);
  const first = await source.token(signal);
  source.drop(first);
  const second = await source.token(signal);
  source.drop(first);
  expect(await source.token(signal)).toBe(second);
  expect(server.issued).toEqual([first, second]);
});

test("S14: redacts the last few tokens, and none after the source has closed", async () => {
  await using server = await startTokenServer({ expiresIn: 0 });
  const { source, hidden } = make(server);
  for (let round = 0; round < 5; round += 1) await source.token(signal);
  expect(hidden.at(-1)).toEqual(server.issued.slice(-3).toReversed());
  await source.close();
  expect(hidden.at(-1)).toEqual([]);
});

async function refusal(listener: RequestListener, credentials: Partial<ClientCredentials> = {}): Promise<Fail> {
  await using server = await startServer(listener, { path: "/token" });
  return await failureOf(make(server, credentials).source.token(signal));
}

test.each([
  [401, "invalid_client"],
  [400, "invalid_grant"],
  [400, "invalid_scope"],
  [403, "access_denied"],
  [200, "bad_client"],
])("C21: HTTP %i with %s needs authorisation, with the endpoint's own text", async (status, error) => {
  const failure = await refusal((_request, response) =>
    sendJson(response, status, { error, error_description: "Not\nthis one" }),
  );
  expect(failure).toMatchObject({ kind: "needs_authorisation", retryable: false, details: { sent: false, error } });
  expect(failure.message).toMatch(
    new RegExp(
      "^`far` gets no access token: the token endpoint at 127\\.0\\.0\\.1:\\d+ refused the client " +
        `\\(${error}: Not this one: HTTP ${status}\\)\\. Check \`client_id\``,
    ),
  );
});

test("S14: does not show the secret if the endpoint repeats it in any encoding and at any position", async () => {
  const basic = Buffer.from("hub+client:cl1ent%3As3cret%2F%C3%BC").toString("base64");
  const description = `${"x".repeat(192)}${CLIENT.client_secret} cl1ent%3As3cret%2F%C3%BC ${basic}`;
  const failure = await refusal((_request, response) =>
    sendJson(response, 400, { error: CLIENT.client_secret, error_description: description }),
  );
  expect(JSON.stringify(failure)).not.toMatch(/cl1ent/);
  expect(failure.message.length).toBeLessThan(500);
  expect(
    JSON.stringify(await refusal((_request, response) => sendJson(response, 400, { error: `a ${basic}` }))),
  ).not.toContain(basic);
});

test("C21: an unreachable endpoint is unavailable, and the message names the address to correct", async () => {
  const server = await startTokenServer();
  await server.close();
  expect(await failureOf(make(server).source.token(signal))).toMatchObject({
    kind: "unavailable",
    retryable: true,
    message:
      `\`far\` gets no access token: the token endpoint at 127.0.0.1:${server.port} refused the connection. ` +
      "Start the server, or correct `token_url`.",
    details: { sent: false },
  });
});

test.each([429, 500, 503])("C21: HTTP %i is unavailable, with the wait that the endpoint requests", async (status) => {
  const failure = await refusal((_request, response) =>
    sendJson(response, status, { error: "temporarily_unavailable" }, { "retry-after": "7" }),
  );
  expect(failure).toMatchObject({ kind: "unavailable", retryable: true, retryAfterMs: 7000 });
});

test.each<[string, unknown]>([
  ["no token", {}],
  ["a token of another type", { access_token: "acc3ss", token_type: "mac" }],
  ["a token that no header can carry", { access_token: "acc3ss\r\nx: y", token_type: "bearer" }],
  ["a list", ["acc3ss"]],
])("C21: %s is malformed", async (_, answer) => {
  const failure = await refusal((_request, response) => sendJson(response, 200, answer));
  expect(failure).toMatchObject({
    kind: "malformed",
    message: expect.stringContaining("`token_url` is a token endpoint"),
  });
  expect(JSON.stringify(failure)).not.toContain("acc3ss");
});

test("S10: stops reading an answer at the size limit", async () => {
  const failure = await refusal((_request, response) => void response.end(Buffer.alloc(1_000_000, "x")));
  expect(failure).toMatchObject({ kind: "malformed", message: expect.stringContaining("more than 65536 bytes") });
});

test("S10: does not follow a redirect to another server, which does not receive the secret", async () => {
  await using other = await startTokenServer();
  const failure = await refusal((_request, response) => void response.writeHead(307, { location: other.url }).end());
  expect(failure).toMatchObject({
    kind: "unavailable",
    retryable: false,
    message: expect.stringContaining("set `token_url` to its address"),
  });
  expect(other.seen).toEqual([]);
});

test("cancels the request if the source closes, and rejects waiting callers", async () => {
  await using server = await startServer(() => {}, { path: "/token" });
  const { source } = make(server);
  const waiting = failureOf(source.token(signal));
  await expect.poll(() => server.seen.length).toBe(1);
  await source.close();
  expect(await waiting).toMatchObject({ kind: "unavailable", message: expect.stringContaining("was cancelled") });
});
