import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { ToyHub } from "../places-to-touch/toy-hub.ts";
import {
  accountsOf,
  addUser,
  authorizationOf,
  clientOf,
  openYard,
  PASSWORD,
  REDIRECT,
  redeem,
  refresh,
  register,
  signIn,
  statusWith,
  tokenRequest,
  tokensFor,
  Visitor,
} from "./builtin-yard.ts";

const MACHINE = { id: "robot", secret: "a-secret-of-a-machine" };

let toy: ToyHub;
let client: string;

beforeAll(async () => {
  toy = await openYard({ scopes: ["status"], machines: { [MACHINE.id]: { secret: MACHINE.secret } } });
  client = await clientOf(toy);
}, 60_000);

afterAll(() => toy[Symbol.asyncDispose]());

describe("metadata", () => {
  test("names endpoints on the hub's own origin, S256, `iss` and client ID metadata documents", async () => {
    const url = toy.served.address.url;
    for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]) {
      const answer = await toy.fetch(path, { headers: { origin: "https://app.example" } });
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(await answer.json()).toMatchObject({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        registration_endpoint: `${url}/register`,
        revocation_endpoint: `${url}/revoke`,
        jwks_uri: `${url}/jwks`,
        code_challenge_methods_supported: ["S256"],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        response_types_supported: ["code"],
      });
    }
    const resource = await toy.fetch("/.well-known/oauth-protected-resource/mcp");
    expect(await resource.json()).toMatchObject({ authorization_servers: [url], scopes_supported: ["mcp", "status"] });
  });
});

describe("a sign-in", () => {
  test("issues a token for the hub, with `iss` and `state` in the response", async () => {
    const request = authorizationOf(toy, client);
    const back = await signIn(toy, request);
    expect(Object.fromEntries(back.searchParams)).toEqual({
      code: expect.any(String),
      state: "s1",
      iss: toy.served.address.url,
    });
    const tokens = await redeem(toy, client, { code: back.searchParams.get("code")!, verifier: request.verifier });
    expect(tokens).toMatchObject({ token_type: "Bearer", scope: "mcp", refresh_token: expect.any(String) });
    expect(await statusWith(toy, tokens.access_token)).toBe(200);
    expect(await statusWith(toy, tokens.refresh_token)).toBe(401);
  });

  test("works for a client that sends neither scope nor resource, and for any loopback port", async () => {
    const redirect = REDIRECT.replace("9123", "40000");
    const request = authorizationOf(toy, client, { resource: "", redirect_uri: redirect });
    const back = await signIn(toy, request);
    expect(back.port).toBe("40000");
    const tokens = await tokenRequest(toy, {
      grant_type: "authorization_code",
      client_id: client,
      code: back.searchParams.get("code")!,
      code_verifier: request.verifier,
      redirect_uri: redirect,
    });
    expect(await statusWith(toy, tokens.access_token)).toBe(200);
  });

  test("returns the error `access_denied` to the client if the user denies it", async () => {
    const visitor = new Visitor(toy);
    const consent = await visitor.login(await visitor.open(authorizationOf(toy, client).url));
    const back = new URL((await visitor.submit(consent, { action: "deny" })).location!);
    expect([back.searchParams.get("error"), back.searchParams.get("iss")]).toEqual([
      "access_denied",
      toy.served.address.url,
    ]);
  });

  test("requests consent each time, even if the browser is signed in", async () => {
    const visitor = new Visitor(toy);
    await signIn(toy, authorizationOf(toy, client), visitor);
    const again = await visitor.open(authorizationOf(toy, client).url);
    expect(again.text).toContain('value="allow"');
    expect(again.text).toContain("127.0.0.1:9123");
  });
});

describe("pages", () => {
  test("use the browser's language, load nothing, cannot be framed and work without JavaScript", async () => {
    for (const [language, word] of [
      ["de-CH,en;q=0.5", "Anmelden"],
      ["fr", "Se connecter"],
      ["ja", "Sign in"],
    ]) {
      const page = await new Visitor(toy).open(authorizationOf(toy, client).url, {
        headers: { "accept-language": language! },
      });
      expect(page.text).toContain(word);
      expect(page.text).not.toMatch(/<script|src=|http-equiv/i);
      const policy = page.headers.get("content-security-policy");
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect([page.headers.get("x-frame-options"), page.headers.get("cache-control")]).toEqual(["DENY", "no-store"]);
    }
  });

  test("label every field, and escape texts of clients", async () => {
    const evil = await clientOf(toy, { client_name: '<script>alert(1)</script>"' });
    const page = await new Visitor(toy).open(authorizationOf(toy, evil).url);
    expect(page.text).toContain("&lt;script&gt;");
    expect(page.text).not.toContain("<script>");
    for (const id of ["user", "password"]) expect(page.text).toContain(`<label for="${id}">`);
  });

  test("for errors of the OAuth library follow the same rules", async () => {
    const page = await new Visitor(toy).open(authorizationOf(toy, "nobody").url, { headers: { accept: "text/html" } });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("The sign-in cannot continue")]);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });
});

describe("refuses", () => {
  test.each<[string, Record<string, string>]>([
    ["another port of a web address", { redirect_uri: "https://app.example:8443/cb" }],
    ["another scheme", { redirect_uri: "http://app.example/cb" }],
    ["another path", { redirect_uri: "https://app.example/cb/evil" }],
    ["a path that leads back", { redirect_uri: "https://app.example/cb/../cb" }],
    ["a user in the address", { redirect_uri: "https://app.example@evil.example/cb" }],
    ["a name that looks alike", { redirect_uri: "https://аpp.example/cb" }],
    ["a query that was not registered", { redirect_uri: "https://app.example/cb?next=evil" }],
    ["an address that was not registered", { redirect_uri: "https://evil.example/cb" }],
    ["no address", { redirect_uri: "" }],
  ])("%s as redirect URI, without redirecting the browser there", async (_, more) => {
    const web = await clientOf(toy, { redirect_uris: ["https://app.example/cb", "https://app.example/other"] });
    const answer = await toy.fetch(
      new URL(authorizationOf(toy, web, more).url).pathname + new URL(authorizationOf(toy, web, more).url).search,
    );
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  });

  test("a request without PKCE, and one with `plain`", async () => {
    for (const more of [{ code_challenge: "", code_challenge_method: "" }, { code_challenge_method: "plain" }]) {
      const { location } = await new Visitor(toy).open(authorizationOf(toy, client, more).url);
      expect(new URL(location!).searchParams.get("error")).toBe("invalid_request");
    }
  });

  test("a used code, and revokes the tokens that were issued for it", async () => {
    const request = authorizationOf(toy, client);
    const code = (await signIn(toy, request)).searchParams.get("code")!;
    const first = await redeem(toy, client, { code, verifier: request.verifier });
    expect(await statusWith(toy, first.access_token)).toBe(200);
    expect(await redeem(toy, client, { code, verifier: request.verifier })).toMatchObject({ error: "invalid_grant" });
    await expect.poll(() => statusWith(toy, first.access_token)).toBe(401);
  });

  test("a code of another client, and a wrong code verifier", async () => {
    const other = await clientOf(toy);
    const request = authorizationOf(toy, client);
    const code = (await signIn(toy, request)).searchParams.get("code")!;
    const { verifier } = request;
    expect(await redeem(toy, other, { code, verifier })).toMatchObject({ error: "invalid_grant" });
    const second = (await signIn(toy, authorizationOf(toy, client))).searchParams.get("code")!;
    expect(await redeem(toy, client, { code: second, verifier })).toMatchObject({ error: "invalid_grant" });
  });

  test("a resource that is not this hub", async () => {
    const { location } = await new Visitor(toy).open(
      authorizationOf(toy, client, { resource: "https://files.example" }).url,
    );
    expect(new URL(location!).searchParams.get("error")).toBe("invalid_target");
  });

  test("a form without its CSRF token, with the token of another sign-in, and from another site", async () => {
    const [one, other] = [new Visitor(toy), new Visitor(toy)];
    const page = await one.login(await one.open(authorizationOf(toy, client).url));
    const foreign = await other.open(authorizationOf(toy, client).url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(foreign.text)![1]!;
    for (const wrong of ["", csrf, "x".repeat(csrf.length)])
      expect((await one.submit(page, { action: "allow", csrf: wrong })).status).toBe(403);
    const crossSite = await one.open(one.at, {
      method: "POST",
      headers: { origin: "https://evil.example" },
      body: new URLSearchParams({ action: "allow" }),
    });
    expect(crossSite.status).toBe(403);
  });

  test("the URL of a sign-in that began in another browser", async () => {
    const victim = new Visitor(toy);
    await victim.open(authorizationOf(toy, client).url);
    const page = await new Visitor(toy).open(victim.at);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("expired")]);
  });
});

describe("refresh tokens", () => {
  test("rotate; a lost response can be repeated for a short time, by the same client only", async () => {
    const first = await tokensFor(toy, client);
    const second = await refresh(toy, client, first.refresh_token!);
    expect(await statusWith(toy, second.access_token)).toBe(200);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const other = await clientOf(toy);
    expect(await refresh(toy, other, first.refresh_token!)).toMatchObject({ error: "invalid_grant" });
    const repeated = await refresh(toy, client, first.refresh_token!);
    expect(await statusWith(toy, repeated.access_token)).toBe(200);
    expect(await refresh(toy, client, second.refresh_token!)).toMatchObject({ access_token: expect.any(String) });
  });

  test("survive two concurrent refreshes", async () => {
    const { refresh_token: token } = await tokensFor(toy, client);
    const both = await Promise.all([refresh(toy, client, token!), refresh(toy, client, token!)]);
    for (const { access_token: access } of both) expect(await statusWith(toy, access)).toBe(200);
    expect(await refresh(toy, client, both[0]!.refresh_token!)).toMatchObject({ access_token: expect.any(String) });
  });

  test("stay valid after another sign-in of the same client in the same browser", async () => {
    const client = await clientOf(toy);
    const [one, other] = [await tokensFor(toy, client), await tokensFor(toy, client)];
    for (const tokens of [one, other, one]) expect(await statusWith(toy, tokens.access_token)).toBe(200);
    const renewed = await refresh(toy, client, one.refresh_token!);
    expect(await statusWith(toy, renewed.access_token)).toBe(200);
    expect(await refresh(toy, client, other.refresh_token!)).toHaveProperty("access_token");
  });

  test("that are used too often end the whole sign-in", async () => {
    const first = await tokensFor(toy, client);
    const answers: JsonObject[] = [];
    for (let at = 0; at < 4; at += 1) answers.push(await refresh(toy, client, first.refresh_token!));
    expect(answers.map(({ error }) => error ?? "ok")).toEqual(["ok", "ok", "ok", "invalid_grant"]);
    await expect.poll(() => statusWith(toy, first.access_token)).toBe(401);
    expect(await refresh(toy, client, answers[0]!["refresh_token"] as string)).toMatchObject({
      error: "invalid_grant",
    });
  });

  test("and access tokens can be revoked", async () => {
    const tokens = await tokensFor(toy, client);
    const revoke = (token: string): Promise<Response> =>
      toy.fetch("/revoke", { method: "POST", body: new URLSearchParams({ client_id: client, token }) });
    expect((await revoke(tokens.access_token!)).status).toBe(200);
    await expect.poll(() => statusWith(toy, tokens.access_token)).toBe(401);
    const more = await tokensFor(toy, client);
    await revoke(more.refresh_token!);
    expect(await refresh(toy, client, more.refresh_token!)).toMatchObject({ error: "invalid_grant" });
  });
});

describe("machine clients", () => {
  const basic = (secret: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(`${MACHINE.id}:${secret}`).toString("base64")}`,
  });

  test("get tokens by client credentials, for this hub only", async () => {
    const body = { grant_type: "client_credentials", scope: "mcp" };
    const tokens = await tokenRequest(toy, body, basic(MACHINE.secret));
    expect(await statusWith(toy, tokens.access_token)).toBe(200);
    const posted = { ...body, client_id: MACHINE.id, client_secret: MACHINE.secret };
    expect(await statusWith(toy, (await tokenRequest(toy, posted)).access_token)).toBe(200);
    expect(await tokenRequest(toy, { ...posted, client_secret: "wrong" })).toMatchObject({ error: "invalid_client" });
    expect(await tokenRequest(toy, body, basic("wrong"))).toMatchObject({ error: "invalid_client" });
    expect(
      await tokenRequest(toy, { ...body, resource: "https://files.example" }, basic(MACHINE.secret)),
    ).toMatchObject({
      error: "invalid_target",
    });
  });

  test("that register themselves get no token without a user", async () => {
    const answer = await register(toy, {
      grant_types: ["client_credentials"],
      token_endpoint_auth_method: "client_secret_post",
    });
    const registered = (await answer.json()) as JsonObject;
    expect(registered["grant_types"]).toEqual(["authorization_code"]);
    const body = {
      grant_type: "client_credentials",
      client_id: String(registered["client_id"]),
      client_secret: String(registered["client_secret"]),
    };
    expect(await tokenRequest(toy, body)).toMatchObject({
      error: expect.stringMatching(/unauthorized_client|invalid_request/),
    });
  });
});

describe("passwords", () => {
  test("are limited per user for every input, and the message does not reveal which users exist", async () => {
    await addUser(toy.home, "Bob");
    const visitor = new Visitor(toy);
    const page = await visitor.open(authorizationOf(toy, client).url);
    const unknown = await visitor.login(page, "Nobody", "wrong wrong wrong");
    expect([unknown.status, unknown.text]).toEqual([401, expect.stringContaining("is wrong")]);
    const answers = [];
    for (let at = 0; at < 6; at += 1) answers.push((await visitor.login(page, "Bob", `wrong ${at}`)).status);
    expect(answers).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await visitor.login(page, "Bob", PASSWORD)).status).toBe(429);
    expect((await visitor.login(page, "Ann", PASSWORD)).text).toContain('value="allow"');
  });
});

describe("removal", () => {
  test("of a user revokes the user's tokens, and removal of a client the tokens of the client", async () => {
    await using own = await openYard();
    const id = await clientOf(own);
    const tokens = await tokensFor(own, id);
    expect(await statusWith(own, tokens.access_token)).toBe(200);
    const accounts = accountsOf(own.home);
    await accounts.clients.remove(id);
    await expect.poll(() => statusWith(own, tokens.access_token), { timeout: 5000 }).toBe(401);
    expect(await refresh(own, id, tokens.refresh_token!)).toMatchObject({ error: "invalid_client" });
    const next = await clientOf(own);
    const more = await tokensFor(own, next);
    await accounts.users.remove("ann");
    await expect.poll(() => statusWith(own, more.access_token), { timeout: 5000 }).toBe(401);
    expect(await refresh(own, next, more.refresh_token!)).toMatchObject({ error: "invalid_grant" });
  }, 30_000);
});
