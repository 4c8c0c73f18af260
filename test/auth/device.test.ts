import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { loginByDevice } from "../../packages/toolyard/src/signin/device.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { Home } from "../sign-in/harness.ts";
import {
  clientOf,
  openYard,
  refresh,
  statusWith,
  tokenRequest,
  Visitor,
  type Step,
  type Tokens,
} from "./builtin-yard.ts";

import { KeyHolder } from "./dpop-client.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

let toy: ToyHub;
let client: string;

// Each test has its own hub, because codes are limited by the address of the browser.
beforeEach(async () => {
  toy = await openYard();
  client = await clientOf(toy, {
    client_name: "Printer <b>",
    grant_types: [GRANT, "refresh_token"],
    redirect_uris: [],
  });
  return () => toy[Symbol.asyncDispose]();
});

interface DeviceAuthorization extends JsonObject {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
}

async function start(more: Record<string, string> = {}): Promise<DeviceAuthorization> {
  const body = new URLSearchParams({ client_id: client, ...more });
  return (await (await toy.fetch("/device_authorization", { method: "POST", body })).json()) as DeviceAuthorization;
}

function poll({ device_code: code }: DeviceAuthorization, id = client): Promise<Tokens> {
  return tokenRequest(toy, { grant_type: GRANT, client_id: id, device_code: code });
}

/** Submits a form of the device page; its CSRF token is called `xsrf`. */
function submit(visitor: Visitor, page: Step, values: Record<string, string>): Promise<Step> {
  const xsrf = /name="xsrf" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
  return visitor.open(`${toy.served.address.url}/device`, {
    method: "POST",
    body: new URLSearchParams({ xsrf, ...values }),
  });
}

async function enter(visitor: Visitor, code: string): Promise<Step> {
  return submit(visitor, await visitor.open(`${toy.served.address.url}/device`), { user_code: code });
}

/** Enters and confirms the code, signs in, and returns the page for the consent. */
async function upToConsent(visitor: Visitor, code: string): Promise<Step> {
  const login = await submit(visitor, await enter(visitor, code), { user_code: code, confirm: "yes" });
  return visitor.login(login);
}

describe("a device without a browser", () => {
  test("gets tokens when its user has entered the code, signed in and consented", async () => {
    const started = await start();
    expect(started).toMatchObject({ verification_uri: `${toy.served.address.url}/device`, expires_in: 600 });
    expect(started.user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    expect(await poll(started)).toMatchObject({ error: "authorization_pending" });
    const visitor = new Visitor(toy);
    const consent = await upToConsent(visitor, started.user_code);
    expect(consent.text).toContain("the device or program that shows the code is signed in");
    expect(consent.text).toContain("Printer &lt;b&gt;");
    const done = await visitor.submit(consent, { action: "allow" });
    expect(done.text).toContain('role="status"');
    const tokens = await poll(started);
    expect(await statusWith(toy, tokens.access_token)).toBe(200);
    expect(await statusWith(toy, (await refresh(toy, client, tokens.refresh_token!)).access_token)).toBe(200);
    expect(await poll(started)).toMatchObject({ error: "invalid_grant" });
  });

  test("accepts the code in lower case and without the hyphen", async () => {
    const { user_code: code } = await start();
    for (const text of [code.toLowerCase(), code.replace("-", ""), ` ${code} `])
      expect((await enter(new Visitor(toy), text)).text).toContain(code);
  });

  test("continues after a restart of the hub, and no file contains its code", async () => {
    const started = await start();
    const visitor = new Visitor(toy);
    const consent = await upToConsent(visitor, started.user_code);
    const folder = join(toy.home, "data", "auth", "records");
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".json"));
    const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
    expect(texts.join("\n")).not.toContain(started.device_code);
    expect(texts.join("\n")).not.toMatch(/[0-9a-f]{64}:[0-9a-f]{64}/);
    const { home, served } = toy;
    await toy.close();
    const port = Number(new URL(served.address.url).port);
    toy = await ToyHub.reopen(FEATURES, { auth: { modes: ["builtin"] } }, { home, port });
    const allow = (): Promise<Step> => visitor.submit(consent, { action: "allow" });
    // The first request may use a connection that the closed hub has ended.
    await allow().catch(allow);
    expect(await statusWith(toy, (await poll(started)).access_token)).toBe(200);
  });

  test("gets `access_denied` if its user denies the code or the consent", async () => {
    const [one, other] = [await start(), await start()];
    const visitor = new Visitor(toy);
    const aborted = await submit(visitor, await enter(visitor, one.user_code), {
      user_code: one.user_code,
      abort: "yes",
    });
    expect(aborted.text).toContain("The access was denied");
    expect(await poll(one)).toMatchObject({ error: "access_denied" });
    const consent = await upToConsent(visitor, other.user_code);
    expect((await visitor.submit(consent, { action: "deny" })).text).toContain("The access was denied");
    expect(await poll(other)).toMatchObject({ error: "access_denied" });
  });
});

describe("the device page", () => {
  test("fills in the code of the complete address, and does not send it by itself", async () => {
    const started = await start();
    const page = await new Visitor(toy).open(started.verification_uri_complete);
    expect(page.text).toContain(`value="${started.user_code}"`);
    expect(page.text).not.toContain("<script");
    const evil = await new Visitor(toy).open(`/device?user_code=${encodeURIComponent('"><script>x</script>')}`);
    expect(evil.text).not.toContain("<script>");
  });

  test("uses the browser's language, loads nothing, cannot be framed and labels its field", async () => {
    for (const [language, title] of [
      ["en", "Sign in a device"],
      ["de", "Ein Gerät anmelden"],
      ["fr", "Connecter un appareil"],
    ] as const) {
      const { text, headers } = await new Visitor(toy).open("/device", { headers: { "accept-language": language } });
      expect(text).toContain(`<h1>${title}</h1>`);
      expect(text).toContain('<label for="code">');
      expect(text).not.toMatch(/<script|https?:\/\//);
      const policy = headers.get("content-security-policy");
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get("x-frame-options")).toBe("DENY");
    }
  });

  test("refuses a form without its CSRF token, and one of another browser", async () => {
    const { user_code: code } = await start();
    const [one, other] = [new Visitor(toy), new Visitor(toy)];
    const page = await one.open("/device");
    await other.open("/device");
    for (const visitor of [other, new Visitor(toy)]) {
      const refused = await submit(visitor, page, { user_code: code });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('role="alert"');
      expect(refused.text).not.toContain(code);
    }
    const body = new URLSearchParams({ user_code: code, confirm: "yes" });
    expect((await one.open("/device", { method: "POST", body })).text).not.toContain('value="login"');
    expect((await enter(one, code)).text).toContain(`<strong>${code}</strong>`);
  });

  test("refuses an unknown code, an empty one and one that was used, in the same words", async () => {
    const started = await start();
    const visitor = new Visitor(toy);
    await visitor.submit(await upToConsent(visitor, started.user_code), { action: "allow" });
    for (const code of ["BBBB-BBBB", "", started.user_code, "x".repeat(10_000)])
      expect((await enter(visitor, code)).text).toContain("This code is not known, has expired or was already used.");
  });

  test("limits the codes from one address", async () => {
    const visitor = new Visitor(toy);
    const page = await visitor.open("/device");
    const statuses: number[] = [];
    for (let at = 0; at < 30; at += 1) statuses.push((await submit(visitor, page, { user_code: "BBBB-BBBB" })).status);
    expect(statuses.slice(0, 20)).not.toContain(429);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe("refuses a device code", () => {
  test("of another client", async () => {
    const started = await start();
    const other = await clientOf(toy, { grant_types: [GRANT], redirect_uris: [] });
    const visitor = new Visitor(toy);
    await visitor.submit(await upToConsent(visitor, started.user_code), { action: "allow" });
    expect(await poll(started, other)).toMatchObject({ error: "invalid_grant" });
  });

  test("that is unknown, and the user code instead of it", async () => {
    const started = await start();
    for (const code of ["x", started.user_code, started.user_code.replace("-", "")])
      expect(await poll({ ...started, device_code: code })).toMatchObject({ error: "invalid_grant" });
  });

  test("for clients that have not registered the grant, and for another resource", async () => {
    const other = await clientOf(toy);
    expect(await start({ client_id: other })).toHaveProperty("error");
    expect(await start({ resource: "https://files.example" })).toMatchObject({ error: "invalid_target" });
    expect(await start({ client_id: "unknown" })).toMatchObject({ error: "invalid_client" });
  });

  test("after too many were requested from one address", async () => {
    const answers: JsonObject[] = [];
    for (let at = 0; at < 25; at += 1) answers.push(await start());
    expect(answers[0]).toHaveProperty("device_code");
    expect(answers.at(-1)).toMatchObject({ error: "temporarily_unavailable" });
  });
});

describe("a device that requests its tokens too often", () => {
  test("gets `slow_down`, and gets its tokens when the user has consented", async () => {
    const [started, other] = [await start(), await start()];
    expect(await poll(started)).toMatchObject({ error: "authorization_pending" });
    for (const _time of [1, 2]) expect(await poll(started)).toMatchObject({ error: "slow_down" });
    expect(await poll(other)).toMatchObject({ error: "authorization_pending" });
    const visitor = new Visitor(toy);
    await visitor.submit(await upToConsent(visitor, started.user_code), { action: "allow" });
    expect(await poll(started)).toHaveProperty("access_token");
    expect(await poll(started)).toMatchObject({ error: "invalid_grant" });
  });

  test("learns nothing about codes that are unknown or of another client", async () => {
    const started = await start();
    for (const _time of [1, 2])
      expect(await poll({ ...started, device_code: "unknown" })).toMatchObject({ error: "invalid_grant" });
    const other = await clientOf(toy, { grant_types: [GRANT], redirect_uris: [] });
    for (const _time of [1, 2]) expect(await poll(started, other)).toMatchObject({ error: "invalid_grant" });
  });
});

describe("with workers and a base path", () => {
  test("a device signs in at the addresses of the metadata, and gets a token for the key that it proves", async () => {
    await toy[Symbol.asyncDispose]();
    toy = await openYard({}, { server: { workers: 2, base_path: "/tools" } });
    client = await clientOf(toy, { grant_types: [GRANT, "refresh_token"], redirect_uris: [] });
    const { origin } = new URL(toy.served.address.url);
    const metadata = await (await fetch(`${origin}/.well-known/oauth-authorization-server/tools`)).json();
    expect(metadata).toMatchObject({ device_authorization_endpoint: `${origin}/tools/device_authorization` });
    const started = await start();
    expect(started.verification_uri).toBe(`${origin}/tools/device`);
    expect((await new Visitor(toy).open(started.verification_uri_complete)).text).toContain(started.user_code);
    for (const error of ["authorization_pending", "slow_down"]) expect(await poll(started)).toMatchObject({ error });
    const visitor = new Visitor(toy);
    const consent = await upToConsent(visitor, started.user_code);
    const done = await visitor.submit(consent, { action: "allow" });
    expect(done.text).toContain('role="status"');
    const holder = await KeyHolder.create();
    const dpop = await holder.proof("POST", `${origin}/tools/token`);
    const body = { grant_type: GRANT, client_id: client, device_code: started.device_code };
    const tokens = await tokenRequest(toy, body, { dpop });
    expect(tokens).toMatchObject({ token_type: "DPoP" });
    expect(await statusWith(toy, tokens.access_token)).toBe(401);
    const headers = await holder.headers(tokens.access_token!, "GET", `${origin}/tools/whoami`);
    expect((await toy.fetch("/whoami", { headers })).status).toBe(200);
  });
});

test("the device flow of `toolyard login` signs in to another hub", async () => {
  await using home = new Home();
  const record = await loginByDevice(home.context({ url: `${toy.served.address.url}/mcp` }), {
    show: async ({ address, code }) => {
      expect(address).toContain(`${toy.served.address.url}/device`);
      const visitor = new Visitor(toy);
      await visitor.submit(await upToConsent(visitor, code), { action: "allow" });
    },
    pause: () => Promise.resolve(),
    signal: AbortSignal.timeout(30_000),
  });
  expect(await statusWith(toy, record.tokens?.access)).toBe(200);
});
