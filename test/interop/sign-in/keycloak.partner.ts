// Keycloak as the identity provider of a hub. `npm run partners -- keycloak` starts it, and sets `KEYCLOAK` to its
// address and `KEYCLOAK_PASSWORD` to the password of its administrator `admin`.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeProtectedHeader } from "jose";
import { beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../../packages/toolyard/src/hub/features.ts";
import { KeyHolder } from "../../auth/dpop-client.ts";
import { NO_CHROMIUM } from "../../console/browser.ts";
import { ToyHub } from "../../places-to-touch/toy-hub.ts";
import { ChromiumUser } from "./chromium-user.ts";

const KEYCLOAK = process.env["KEYCLOAK"] ?? "";
const REALM = `team-${randomBytes(4).toString("hex")}`;
const ISSUER = `${KEYCLOAK}/realms/${REALM}`;
const AUDIENCE = "toolyard";
const SECRET = "the-secret-of-the-hub";
const PASSWORD = "the-password-of-a-user";

/** The audience mapper that docs/guide/team/provider.md requires. */
const AUDIENCE_MAPPER = {
  name: "hub",
  protocol: "openid-connect",
  protocolMapper: "oidc-audience-mapper",
  config: { "included.custom.audience": AUDIENCE, "access.token.claim": "true", "introspection.token.claim": "true" },
};

const agent = (clientId: string, more: JsonObject = {}): JsonObject => ({
  clientId,
  publicClient: true,
  directAccessGrantsEnabled: true,
  redirectUris: ["http://127.0.0.1/*"],
  protocolMappers: [AUDIENCE_MAPPER],
  ...more,
});

const account = (username: string, realmRoles: readonly string[]): JsonObject => ({
  username,
  enabled: true,
  email: `${username}@corp.example`,
  emailVerified: true,
  firstName: username,
  lastName: "User",
  realmRoles,
  credentials: [{ type: "password", value: PASSWORD, temporary: false }],
});

const REALM_SETTINGS = {
  realm: REALM,
  enabled: true,
  sslRequired: "none",
  roles: { realm: [{ name: "dev" }] },
  users: [account("ann", ["dev"]), account("bob", [])],
  clients: [
    agent("agent"),
    agent("elsewhere", { protocolMappers: [] }),
    agent("bound", { attributes: { "dpop.bound.access.tokens": "true" } }),
    // Keycloak answers introspections of a client only if `aud` of the token names the client.
    { clientId: AUDIENCE, secret: SECRET, serviceAccountsEnabled: true, standardFlowEnabled: false },
  ],
};

let admin: string;

beforeAll(async () => {
  admin = await adminToken();
  await atAdmin("", { method: "POST", body: JSON.stringify(REALM_SETTINGS) });
}, 300_000);

async function adminToken(): Promise<string> {
  const body = new URLSearchParams({
    grant_type: "password",
    client_id: "admin-cli",
    username: "admin",
    password: process.env["KEYCLOAK_PASSWORD"] ?? "",
  });
  const answer = await fetch(`${KEYCLOAK}/realms/master/protocol/openid-connect/token`, { method: "POST", body });
  return String(((await answer.json()) as JsonObject)["access_token"]);
}

async function atAdmin(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
  const answer = await fetch(`${KEYCLOAK}/admin/realms${path}`, { ...init, headers });
  if (!answer.ok) throw new Error(`Keycloak answered ${answer.status} to ${path}: ${await answer.text()}`);
  return answer;
}

async function requestToken(body: Record<string, string>, headers: Record<string, string> = {}): Promise<JsonObject> {
  const init = { method: "POST", headers, body: new URLSearchParams(body) };
  return (await (await fetch(`${ISSUER}/protocol/openid-connect/token`, init)).json()) as JsonObject;
}

/** Requests a token with a user's password. */
async function tokenOf(username: string, client = "agent"): Promise<string> {
  const body = { grant_type: "password", client_id: client, username, password: PASSWORD, scope: "openid" };
  const { access_token: token, error_description: problem } = await requestToken(body);
  if (typeof token !== "string") throw new Error(`Keycloak gave no token: ${String(problem)}`);
  return token;
}

function open(issuer: JsonObject = {}): Promise<ToyHub> {
  return ToyHub.open(FEATURES, {
    auth: {
      modes: ["issuer"],
      audience: [AUDIENCE],
      issuer: { url: ISSUER, token_types: ["at+jwt", "JWT"], groups_claim: "realm_access.roles", ...issuer },
    },
    roles: { dev: { members: { groups: ["dev"] }, allow: ["*"] } },
  });
}

const ping = (toy: ToyHub, token: string): Promise<Response> =>
  toy.call("meta.ping", {}, { authorization: `Bearer ${token}` });

test("verifies Keycloak's JWT: audience, and the role of the user's realm role", async () => {
  await using toy = await open();
  const answer = await ping(toy, await tokenOf("ann"));
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("pong")]);
  expect((await ping(toy, await tokenOf("bob"))).status).toBe(403);
  expect((await ping(toy, await tokenOf("ann", "elsewhere"))).status).toBe(401);
  const who = await toy.fetch("/whoami", { headers: { authorization: `Bearer ${await tokenOf("ann")}` } });
  expect(await who.json()).toMatchObject({ name: "ann", clientId: "agent", roles: ["dev"], issuer: ISSUER });
});

test("refuses Keycloak's ID token and refresh token", async () => {
  await using toy = await open();
  const body = { grant_type: "password", client_id: "agent", username: "ann", password: PASSWORD, scope: "openid" };
  const tokens = await requestToken(body);
  for (const name of ["id_token", "refresh_token"]) expect((await ping(toy, String(tokens[name]))).status).toBe(401);
  expect((await ping(toy, String(tokens["access_token"]))).status).toBe(200);
});

test("a user signs in with a browser at Keycloak, and the client calls a tool", async ({ skip }) => {
  skip(NO_CHROMIUM !== undefined, NO_CHROMIUM);
  await using toy = await open();
  await using user = await ChromiumUser.start();
  const server = createServer((_request, response) => response.end("Signed in."));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "agent",
    redirect_uri: redirect,
    scope: "openid",
    state: "s",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const back = await user.signInAtKeycloak(`${ISSUER}/protocol/openid-connect/auth?${query}`, "ann", PASSWORD);
  server.closeAllConnections();
  server.close();
  const code = back.searchParams.get("code") ?? "";
  const body = { grant_type: "authorization_code", client_id: "agent", redirect_uri: redirect };
  const tokens = await requestToken({ ...body, code, code_verifier: verifier });
  expect((await ping(toy, String(tokens["access_token"]))).status).toBe(200);
});

test("accepts tokens of a new key of the realm, and those of the old key while Keycloak publishes it", async () => {
  await using toy = await open();
  const before = await tokenOf("ann");
  expect((await ping(toy, before)).status).toBe(200);
  const provider = {
    name: "rotated",
    providerId: "rsa-generated",
    providerType: "org.keycloak.keys.KeyProvider",
    config: { priority: ["1000"], enabled: ["true"], active: ["true"], algorithm: ["RS256"] },
  };
  await atAdmin(`/${REALM}/components`, { method: "POST", body: JSON.stringify(provider) });
  const after = await tokenOf("ann");
  expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
  // The hub reads the keys at most every 5 seconds.
  await expect.poll(async () => (await ping(toy, after)).status, { interval: 500, timeout: 20_000 }).toBe(200);
  expect((await ping(toy, before)).status).toBe(200);
});

test("asks Keycloak about each token by introspection, and refuses one after the user was signed out", async () => {
  await using toy = await open({ verify: "introspection", client_id: AUDIENCE, client_secret: SECRET });
  const [kept, ended] = [await tokenOf("ann"), await tokenOf("ann")];
  expect((await ping(toy, kept)).status).toBe(200);
  const users = (await (await atAdmin(`/${REALM}/users?username=ann`)).json()) as readonly { readonly id: string }[];
  await atAdmin(`/${REALM}/users/${users[0]!.id}/logout`, { method: "POST" });
  expect((await ping(toy, ended)).status).toBe(401);
  expect((await ping(toy, await tokenOf("bob"))).status).toBe(403);
});

test("accepts a token that Keycloak has bound to a key, with a proof only", async () => {
  await using toy = await open();
  const holder = await KeyHolder.create();
  const dpop = await holder.proof("POST", `${ISSUER}/protocol/openid-connect/token`);
  const body = { grant_type: "password", client_id: "bound", username: "ann", password: PASSWORD };
  const tokens = await requestToken(body, { dpop });
  expect(tokens).toMatchObject({ token_type: "DPoP" });
  const token = String(tokens["access_token"]);
  const url = `${toy.served.address.url}/whoami`;
  expect((await toy.fetch("/whoami", { headers: await holder.headers(token, "GET", url) })).status).toBe(200);
  expect((await ping(toy, token)).status).toBe(401);
  const other = await KeyHolder.create();
  expect((await toy.fetch("/whoami", { headers: await other.headers(token, "GET", url) })).status).toBe(401);
});
