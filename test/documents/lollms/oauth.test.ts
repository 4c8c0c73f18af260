import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RemoteMCPBinding, type AuthConfig, type OAuthConfig } from "../../../packages/toolyard/src/bindings.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import type { Logger } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { createHub } from "../../../packages/toolyard/src/index.ts";
import { startLegacy, readJson, sendJson, startServer } from "../../fixtures/http-servers.ts";
import { CLIENT, startTokenServer, type TokenServer } from "../../fixtures/token-server.ts";
import { ToolFolder } from "../../support/tool-folder.ts";

const SECRETS = /acc3ss|cl1ent/;
const open: { close(): Promise<void> }[] = [];
let lines: string[];
let folder: ToolFolder;

beforeEach(() => {
  lines = [];
  folder = new ToolFolder();
  vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  vi.unstubAllEnvs();
  folder[Symbol.dispose]();
});

const line = (message: string, facts?: JsonObject): void => void lines.push(`${message} ${JSON.stringify(facts)}`);
const logger: Logger = { debug: line, info: line, warning: line, error: line, with: () => logger };

function remote(serverUrl: string, auth: AuthConfig): RemoteMCPBinding {
  const binding = new RemoteMCPBinding({ server_url: serverUrl, auth_config: auth, logger });
  open.push(binding);
  return binding;
}

const oauth = (tokens: Pick<TokenServer, "url">): OAuthConfig => ({ type: "oauth2", token_url: tokens.url, ...CLIENT });

test.each<[string, (tokens: TokenServer) => AuthConfig]>([
  ["oauth2", oauth],
  ["oauth2 with its grant named", (tokens) => ({ ...oauth(tokens), grant_type: "client_credentials" })],
  [
    "client_credentials",
    (tokens) => ({ ...oauth(tokens), type: "client_credentials", client_auth: "post", scope: "tools" }),
  ],
  [
    "camelCase",
    ({ url }) => ({
      type: "oauth2",
      tokenUrl: url,
      clientId: CLIENT.client_id,
      clientSecret: CLIENT.client_secret,
      clientAuth: "basic",
    }),
  ],
])("L61: `auth_config` with OAuth details (%s) signs in", async (_, auth) => {
  await using tokens = await startTokenServer();
  await using server = await startLegacy({ accepts: tokens.accepts });
  const binding = remote(server.url, auth(tokens));
  expect(await binding.executeTool("remote_server::echo", { text: "in" })).toEqual({ output: "in", status_code: 200 });
  expect(tokens.issued).toHaveLength(1);
  expect(lines.join("\n")).not.toMatch(SECRETS);
});

test("L61: a refused client gets the reason, which does not contain its secret", async () => {
  await using tokens = await startTokenServer();
  await using server = await startLegacy({ accepts: tokens.accepts });
  const binding = remote(server.url, { ...oauth(tokens), client_id: "stranger" });
  expect(await binding.discoverTools()).toEqual([]);
  expect(binding.diagnostics).toMatchObject([
    {
      source: "remote_server",
      message: expect.stringContaining("refused the client (invalid_client: No client stranger with ***"),
    },
  ]);
  expect(JSON.stringify([binding.diagnostics, lines])).not.toMatch(SECRETS);
});

test.each<[string, object, string]>([
  [
    "authorization code",
    { grant_type: "authorization_code" },
    '`auth_config` contains `grant_type` "authorization_code", but no user can sign in here. ' +
      "The only supported OAuth grant is `client_credentials`",
  ],
  [
    "a place to sign in at",
    { authorization_url: "https://auth.test/authorize" },
    "`auth_config` contains `authorization_url`, but no user can sign in here",
  ],
  ["a missing secret", { client_secret: "" }, '`auth_config` of type "client_credentials" needs `client_secret`.'],
  ["a secret that is no text", { client_secret: 7 }, "`auth_config.client_secret` must be text."],
  [
    "a token endpoint without TLS",
    { token_url: "http://auth.test/token" },
    "`auth_config.token_url` must begin with https://",
  ],
  ["an unknown key", { secret: "x" }, "There is no option `secret`."],
])("L61: refuses %s immediately", (_, more, message) => {
  const auth = { ...oauth({ url: "https://auth.test/token" }), ...more } as AuthConfig;
  expect(() => remote("https://far.test/mcp", auth)).toThrow(message);
});

test("S14: a token that a server repeats appears in no error, status or log, also after its renewal", async () => {
  await using tokens = await startTokenServer();
  await using server = await startServer(async (request, response) => {
    const { id, method } = await readJson(request);
    const { authorization } = request.headers;
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (!tokens.accepts(authorization))
      return void response
        .writeHead(401, {
          "www-authenticate": `Bearer resource_metadata="https://far.test/${authorization?.slice(7)}"`,
        })
        .end();
    if (id === undefined) return void response.writeHead(202).end();
    const answer = (result: object): void => sendJson(response, 200, { jsonrpc: "2.0", id, result });
    if (method === "initialize")
      return answer({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "a", version: "1" },
      });
    if (method === "tools/list")
      return answer({
        tools: [{ name: "tell", description: `Is called with ${authorization}`, inputSchema: { type: "object" } }],
      });
    sendJson(response, 200, {
      jsonrpc: "2.0",
      id,
      error: { code: -32000, message: `You sent ${authorization?.slice(7)}` },
    });
  });
  const hub = await createHub({
    settings: {
      mcp: {
        remote_servers: [{ namespace: "far", url: server.url, auth: { ...oauth(tokens), type: "client_credentials" } }],
      },
    },
    logger,
  });
  open.push(hub);
  const shown: unknown[] = [await hub.list()];
  shown.push(await hub.call("far__tell"));
  tokens.revoke();
  shown.push(await hub.call("far__tell"));
  expect(tokens.issued).toHaveLength(2);
  tokens.accepts = () => false;
  shown.push(await hub.call("far__tell"), hub.sources(), await hub.facts(), lines);
  expect(shown.slice(1, 4)).toMatchObject([
    { ok: false, message: expect.stringContaining("You sent ***") },
    { ok: false, message: expect.stringContaining("You sent ***") },
    { kind: "needs_authorisation" },
  ]);
  expect(JSON.stringify(shown)).not.toMatch(SECRETS);
});
