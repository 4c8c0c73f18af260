// Sign-in to the console at the hub's own authorization server and at an external issuer, as a browser does it.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { accountsOf, addUser, openYard, PASSWORD, tokenRequest, Visitor, type Step } from "../auth/builtin-yard.ts";
import { KeyHolder } from "../auth/dpop-client.ts";
import { json, KeyIssuer } from "../auth/key-issuer.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { NO_CHROMIUM, openPage, startChromium } from "./browser.ts";

/** A visitor whose session cookie is read for requests to the API. */
interface OpenSession {
  readonly cookie: string;
  readonly key: string;
}

/** Follows the redirects of a browser and keeps the session that a response opens. */
class ConsoleVisitor extends Visitor {
  readonly session: { cookie: string; key: string } = { cookie: "", key: "" };
  constructor(toy: ToyHub) {
    const outside = async (url: URL, init: RequestInit): Promise<Response> => {
      const answer = await fetch(url, init);
      const key = /#key=([\w-]+)$/.exec(answer.headers.get("location") ?? "")?.[1];
      if (key !== undefined) this.session.key = key;
      const cookie = answer.headers.getSetCookie().find((one) => /^toolyard_console_\d+=/.test(one));
      if (cookie !== undefined) this.session.cookie = cookie.split(";")[0]!;
      return answer;
    };
    super(Object.assign(Object.create(toy) as ToyHub, { served: toy.served, outside }));
  }
}

const ask = (toy: ToyHub, path: string, { cookie, key }: OpenSession, init: RequestInit = {}): Promise<Response> =>
  toy.fetch(`/api/admin/${path}`, { ...init, headers: { cookie, "x-toolyard-console": key } });

describe("the hub's own authorization server", () => {
  let toy: ToyHub;
  beforeAll(async () => {
    toy = await openYard({}, { console: { admins: ["user:Ann"] } });
    await addUser(toy.home, "Bob");
  }, 60_000);
  afterAll(() => toy[Symbol.asyncDispose]());

  async function signIn(user = "Ann", hub = toy): Promise<{ readonly visitor: ConsoleVisitor; readonly page: Step }> {
    const visitor = new ConsoleVisitor(hub);
    const consent = await visitor.login(await visitor.open("/api/admin/sign-in?by=hub"), user);
    return { visitor, page: await visitor.submit(consent, { action: "allow" }) };
  }

  test("the sign-in page links to this server, and a sign-in opens a session with the rights of the user", async () => {
    const page = await (await toy.fetch("/console/sign-in")).text();
    expect(page).toContain('href="../api/admin/sign-in?by=hub"');
    const { visitor } = await signIn();
    expect(visitor.session).toEqual({
      cookie: expect.stringMatching(/^toolyard_console_\d+=/),
      key: expect.stringMatching(/^[\w-]{43}$/),
    });
    const info = (await (await ask(toy, "session", visitor.session)).json()) as JsonObject;
    expect(info).toMatchObject({ by: "session", caller: { name: "Ann" }, mayChange: true });
  });

  test("a browser signs in if access tokens must be bound to a key, because the hub holds its token", async () => {
    const secret = "a-secret-of-16-characters";
    const auth = { modes: ["builtin"], require_dpop: true, builtin: { machines: { ci: { secret } } } };
    await using strict = await openYard({}, { auth, console: { admins: ["user:Ann"] } });
    const { visitor } = await signIn("Ann", strict);
    expect(await (await ask(strict, "session", visitor.session)).json()).toMatchObject({ by: "session" });
    const holder = await KeyHolder.create();
    const { url } = strict.served.address;
    const basic = { authorization: `Basic ${Buffer.from(`ci:${secret}`).toString("base64")}` };
    const dpop = await holder.proof("POST", `${url}/token`);
    const body = { grant_type: "client_credentials", scope: "mcp", resource: `${url}/mcp` };
    const { access_token: token = "" } = await tokenRequest(strict, body, { ...basic, dpop });
    const proven = await holder.headers(token, "GET", `${url}/api/admin/session`);
    expect((await strict.fetch("/api/admin/session", { headers: proven })).status).toBe(200);
    const bearer = { authorization: `Bearer ${token}` };
    for (const headers of [proven, bearer])
      expect((await strict.fetch("/api/admin/session", { headers })).status).toBe(401);
  }, 60_000);

  test("a browser that uses another name of the hub signs in at the canonical address", async () => {
    const { port } = new URL(toy.served.address.url);
    const begun = await fetch(`http://localhost:${port}/api/admin/sign-in?by=hub`, { redirect: "manual" });
    const start = `${toy.served.address.url}/api/admin/sign-in?by=hub&canonical=1`;
    expect([begun.status, begun.headers.get("location"), begun.headers.getSetCookie()]).toEqual([303, start, []]);
    const there = await fetch(start, { redirect: "manual" });
    expect(there.headers.get("location")).toContain("/authorize?");
  });

  test("no token reaches the browser: neither an address nor a cookie contains one", async () => {
    const { visitor, page } = await signIn();
    expect(visitor.at).not.toMatch(/access_token|refresh_token/);
    expect(page.text).not.toMatch(/access_token/);
    expect(visitor.cookies.filter((name) => name.startsWith("toolyard_console"))).toHaveLength(2);
  });

  test("refuses a response that another browser began, an unknown state, and a response a second time", async () => {
    const begun = await toy.fetch("/api/admin/sign-in?by=hub");
    const state = new URL(begun.headers.get("location")!).searchParams.get("state")!;
    const cookie = begun.headers.getSetCookie()[0]!.split(";")[0]!;
    expect(begun.headers.getSetCookie()[0]).toMatch(/HttpOnly; SameSite=Lax/);
    const answer = (path: string, sent = ""): Promise<Response> =>
      toy.fetch(`/api/admin/callback?${path}`, { headers: { cookie: sent } });
    for (const [path, sent] of [
      [`state=${state}&code=x`, ""],
      [`state=${state}&code=x`, cookie.replace(/=.*/, "=other")],
      ["state=unknown&code=x", cookie],
      ["code=x", cookie],
      ["", ""],
    ]) {
      const refused = await answer(path!, sent);
      expect([refused.status, refused.headers.get("location")], path).toEqual([400, null]);
      expect(await refused.text()).toContain("Start again.");
    }
    expect((await answer(`state=${state}&error=access_denied`, cookie)).status).toBe(401);
    expect((await answer(`state=${state}&code=x`, cookie)).status).toBe(400);
  });

  test.each([
    ["a wrong code", "code=wrong"],
    ["a response of another issuer", "code=wrong&iss=https://other.example"],
    ["no code", ""],
  ])("refuses %s and opens no session", async (_name, more) => {
    const begun = await toy.fetch("/api/admin/sign-in?by=hub");
    const state = new URL(begun.headers.get("location")!).searchParams.get("state")!;
    const cookie = begun.headers.getSetCookie()[0]!.split(";")[0]!;
    const answer = await toy.fetch(`/api/admin/callback?state=${state}&${more}`, { headers: { cookie } });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
    expect(await answer.text()).toContain('role="alert"');
  });

  test("returns to the sign-in page if the user denies", async () => {
    const visitor = new ConsoleVisitor(toy);
    const consent = await visitor.login(await visitor.open("/api/admin/sign-in?by=hub"));
    const page = await visitor.submit(consent, { action: "deny" });
    expect([page.status, visitor.session.cookie]).toEqual([401, ""]);
    expect(page.text).toContain("The user denied the access.");
  });

  test("refuses an unknown sign-in", async () => {
    expect((await toy.fetch("/api/admin/sign-in?by=issuer")).status).toBe(404);
    expect((await toy.fetch("/api/admin/sign-in")).status).toBe(404);
  });

  test("ends the session of a user who is removed", async () => {
    const { visitor } = await signIn("Bob");
    expect(await (await ask(toy, "session", visitor.session)).json()).toMatchObject({ by: "session" });
    const { users } = accountsOf(toy.home);
    await users.remove("Bob");
    await vi.waitFor(async () => expect((await ask(toy, "session", visitor.session)).status).toBe(401), 5000);
  });

  test("a user signs in and out in Chromium, and the page receives events", async ({ skip }) => {
    skip(NO_CHROMIUM !== undefined, NO_CHROMIUM);
    const browser = await startChromium();
    onTestFinished(() => browser.close());
    const { page, faults } = await openPage(browser, `${toy.served.address.url}/console/`);
    await page.getByRole("link", { name: /^Sign in with / }).click();
    await page.locator('[name="user"]').fill("Ann");
    await page.locator('[name="password"]').fill(PASSWORD);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.locator(".live.on").waitFor();
    expect(page.url()).not.toMatch(/code=|key=|state=/);
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.getByRole("button", { name: "Sign out Ann" }).click();
    await page.getByRole("link", { name: /^Sign in with / }).waitFor();
    expect(faults).toEqual([]);
  });

  test("signing out ends the session and revokes its tokens", async () => {
    const { visitor } = await signIn();
    expect((await ask(toy, "session", visitor.session, { method: "DELETE" })).status).toBe(200);
    expect((await ask(toy, "session", visitor.session)).status).toBe(401);
  });
});

describe("an external issuer", () => {
  let issuer: KeyIssuer;
  let toy: ToyHub;
  /** Token requests that the issuer received. */
  const requests: Record<string, string>[] = [];
  let isRefusing = false;
  let lifeSeconds = 3600;
  beforeAll(async () => {
    issuer = await KeyIssuer.start();
    const { url } = issuer;
    issuer.answers.set("/.well-known/oauth-authorization-server", (response) =>
      json(response, {
        issuer: url,
        jwks_uri: `${url}/jwks`,
        authorization_endpoint: `${url}/authorize?tenant=1`,
        token_endpoint: `${url}/token`,
      }),
    );
    issuer.answers.set("/token", (response, body) => {
      requests.push(Object.fromEntries(new URLSearchParams(body)));
      const refusal = { error: "invalid_grant", error_description: "The token was revoked." };
      if (isRefusing) return json(response, refusal, 400);
      const claims = { exp: Math.floor(Date.now() / 1000) + lifeSeconds };
      void issuer
        .sign(`${toy.served.address.url}/mcp`, { claims })
        .then((token) =>
          json(response, { access_token: token, token_type: "Bearer", expires_in: lifeSeconds, refresh_token: "r1" }),
        );
    });
    toy = await ToyHub.open(FEATURES, {
      auth: { modes: ["issuer"], issuer: { url } },
      console: { client_id: "console", scopes: ["offline_access"] },
    });
  }, 60_000);
  afterAll(async () => {
    await toy[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  async function signIn(): Promise<OpenSession> {
    const begun = await toy.fetch("/api/admin/sign-in?by=issuer");
    const sent = new URL(begun.headers.get("location")!);
    const cookie = begun.headers.getSetCookie()[0]!.split(";")[0]!;
    const state = sent.searchParams.get("state")!;
    const back = await toy.fetch(`/api/admin/callback?code=c1&state=${state}`, { headers: { cookie } });
    expect([back.status, await back.text()]).toEqual([303, ""]);
    return {
      cookie: back.headers.getSetCookie()[0]!.split(";")[0]!,
      key: back.headers.get("location")!.split("#key=")[1]!,
    };
  }

  test("the browser goes to the issuer with PKCE, resource and scopes, and the returned code is redeemed", async () => {
    const begun = new URL((await toy.fetch("/api/admin/sign-in?by=issuer")).headers.get("location")!);
    expect(`${begun.origin}${begun.pathname}`).toBe(`${issuer.url}/authorize`);
    expect(Object.fromEntries(begun.searchParams)).toEqual({
      tenant: "1",
      response_type: "code",
      client_id: "console",
      redirect_uri: `${toy.served.address.url}/api/admin/callback`,
      scope: "offline_access",
      resource: `${toy.served.address.url}/mcp`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    const session = await signIn();
    expect(requests.at(-1)).toMatchObject({
      grant_type: "authorization_code",
      code: "c1",
      client_id: "console",
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect((await ask(toy, "session", session)).status).toBe(200);
  });

  test("an access token about to expire is renewed, and a refused renewal ends the session", async () => {
    lifeSeconds = 20;
    const session = await signIn();
    const answers = await Promise.all([1, 2, 3].map(() => ask(toy, "session", session)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(requests.at(-1)).toMatchObject({ grant_type: "refresh_token", refresh_token: "r1" });
    isRefusing = true;
    expect((await ask(toy, "session", session)).status).toBe(401);
    isRefusing = false;
    expect((await ask(toy, "session", session)).status).toBe(401);
    lifeSeconds = 3600;
  });

  test("without a client id of the console, the page has the form for a token only", async () => {
    const auth = { modes: ["issuer"], issuer: { url: issuer.url } };
    await using other = await ToyHub.open(FEATURES, { auth });
    expect(await (await other.fetch("/console/sign-in")).text()).not.toContain("sign-in?by=");
    expect((await other.fetch("/api/admin/sign-in?by=issuer")).status).toBe(404);
  });
});
