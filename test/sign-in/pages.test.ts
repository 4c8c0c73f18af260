// Signing in through the hub's own pages, from browsers and chats; with a real browser by `npm run sign-in:chromium`.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import type { ServerRequestSeen } from "../fixtures/raw/raw-client.ts";
import { openTarget, type Target } from "../security/attack.ts";
import { startBrowsers, type Browsers } from "./browser.ts";

const TOKENS = { ann: { token: "t0ken-ann" }, ben: { token: "t0ken-ben" } };

function openHub(url: string, server: object = {}): Promise<Target> {
  const far = { alias: "far", url, credentials: "per-caller" as const };
  return openTarget({ server, mcp: { remote_servers: [far] }, builtin: { execute_code: false } });
}

let browsers: Browsers;
beforeAll(async () => {
  browsers = await startBrowsers();
}, 60_000);
afterAll(() => browsers[Symbol.asyncDispose]());

/** An issuer that browsers treat as another site than the hub, and at which the user must consent. */
const elsewhere = (): Promise<AuthServer> => startAuthServer({ host: "localhost", asksPerson: true });

/** Simulates a user's browser: from the link through the code to the issuer, and back to the hub. */
async function follow({ params }: ServerRequestSeen): Promise<JsonObject> {
  const code = /code (\d{6})/.exec(String(params["message"]))![1]!;
  const browser = await browsers.open();
  const { text } = await browser.visit(String(params["url"]), { code });
  return { action: text.includes("Signed in to far.") ? "accept" : "decline" };
}

test.each(["legacy", "modern"] as const)(
  "a %s chat with a token signs in by the sign-in tool and the hub's pages",
  async (era) => {
    await using auth = await elsewhere();
    await using server = await startProtected(auth);
    await using hub = await openHub(server.url, { tokens: TOKENS });
    const ann = await hub.client(TOKENS.ann.token, { era, answer: follow });
    const ben = await hub.client(TOKENS.ben.token, { era });
    const names = async (client: typeof ann): Promise<unknown[]> =>
      (await client.list("tools/list", "tools")).flatMap(({ name }) => (String(name).startsWith("far") ? [name] : []));
    expect(await names(ann)).toEqual(["far__sign_in"]);
    expect(JSON.stringify(await ann.tool("far__sign_in"))).toMatch(/Signed in to far/);
    expect(ann.asked.map(({ params }) => params["mode"])).toEqual(["url"]);
    const redirect = auth.authorized[0]!.searchParams.get("redirect_uri");
    expect(redirect).toBe(`http://127.0.0.1:${hub.port}/oauth/callback`);
    await expect.poll(() => names(ann), { timeout: 30_000 }).toContain("far__echo");
    expect(await names(ben)).toEqual(["far__sign_in"]);
    for (const secret of auth.secrets) expect(`${await hub.log()}${await hub.audit()}`).not.toContain(secret);
  },
);

async function backOf(auth: AuthServer, hub: Target): Promise<{ readonly sent: Response; readonly back: string }> {
  const sent = await fetch(`http://127.0.0.1:${hub.port}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ source: "far" }),
    redirect: "manual",
  });
  const back = (await fetch(sent.headers.get("location")!, { redirect: "manual" })).headers.get("location")!;
  expect(auth.authorized).toHaveLength(1);
  return { sent, back };
}

test("the hub's page links to the sign-in, and only the browser that began can return, once", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const get = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${hub.port}/${path}`, { headers: { accept: "text/html" } });
  // The page links to the sign-in when the server has refused the first connection.
  await expect.poll(async () => (await get("?clients")).text()).toContain("/sign-in?source=far");
  // A browser that opens `/` sees the Overview of the console instead, which shows these links.
  expect((await get("")).url).toBe(`http://127.0.0.1:${hub.port}/console/`);
  expect(await (await get("api/admin/overview")).json()).toMatchObject({
    attention: [{ kind: "sign_in", source: "far", link: expect.stringMatching(/\/sign-in\?source=far$/) }],
  });
  const { sent, back } = await backOf(auth, hub);
  const cookie = sent.headers.get("set-cookie")!.split(";")[0]!;
  const statuses = [];
  for (const headers of [{}, { cookie: `${cookie}x` }, { cookie }, { cookie }])
    statuses.push((await fetch(back, { headers: headers as Record<string, string> })).status);
  expect(statuses).toEqual([403, 403, 200, 400]);
  expect(auth.asked).toHaveLength(1);
});

test("a browser goes from the hub's page to the issuer and back, and the tools are available", async () => {
  await using auth = await elsewhere();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const browser = await browsers.open();
  const { url, text } = await browser.visit(`http://127.0.0.1:${hub.port}/sign-in?source=far`);
  expect(text).toContain("Signed in to far.");
  expect(url).toContain(`http://127.0.0.1:${hub.port}/oauth/callback?`);
  await expect.poll(() => hub.hub.call("far__echo", { text: "in" }), { timeout: 30_000 }).toMatchObject({ ok: true });
});

test("a browser that opens the link of another browser's sign-in cannot complete it", async () => {
  await using auth = await elsewhere();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const begun = await fetch(`http://127.0.0.1:${hub.port}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ source: "far" }),
    redirect: "manual",
  });
  const browser = await browsers.open();
  const { text } = await browser.visit(begun.headers.get("location")!);
  expect(text).toContain("started in another browser");
  expect(auth.asked).toEqual([]);
});

test("refuses a wrong code, and ends the link after five", async () => {
  await using auth = await elsewhere();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url, { tokens: TOKENS });
  const said: string[] = [];
  const guess = async ({ params }: ServerRequestSeen): Promise<JsonObject> => {
    for (let tries = 0; tries < 6; tries += 1)
      said.push((await (await browsers.open()).visit(String(params["url"]), { code: "no" })).text);
    return { action: "decline" };
  };
  const ann = await hub.client(TOKENS.ann.token, { era: "modern", answer: guess });
  await ann.tool("far__sign_in");
  expect(said.map((text) => (text.includes("The code is wrong") ? "no" : "over"))).toEqual([
    ..."no no no no no".split(" "),
    "over",
  ]);
  expect(auth.authorized).toEqual([]);
});

test.each<[string, Record<string, string>, number]>([
  ["a page of another site", { origin: "https://evil.example" }, 403],
  ["a foreign `Host`", { host: "evil.example" }, 403],
  ["the hub's own page", {}, 303],
])("begins a sign-in only for the hub's own page: %s", async (_, headers, status) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const host = { host: `127.0.0.1:${hub.port}` };
  const request = { path: "/sign-in", headers: { ...host, ...type, ...headers }, body: "source=far" };
  expect((await hub.send(request)).status).toBe(status);
});

test("reports an unknown callback and an unknown link", async () => {
  await using hub = await openHub("http://127.0.0.1:9/mcp", { tokens: TOKENS });
  const get = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${hub.port}${path}`)).status;
  expect(await get("/oauth/callback?code=a&state=b")).toBe(400);
  expect(await get("/sign-in/guessed")).toBe(410);
  expect(await get("/sign-in")).toBe(401);
  expect(await get("/oauth/client.json")).toBe(404);
});

test("a hub with an https address identifies itself by a client ID document", async () => {
  await using hub = await openHub("http://127.0.0.1:9/mcp", { public_url: "https://hub.example.com/" });
  const answer = await fetch(`http://127.0.0.1:${hub.port}/oauth/client.json`);
  expect(await answer.json()).toMatchObject({
    client_id: "https://hub.example.com/oauth/client.json",
    redirect_uris: ["https://hub.example.com/oauth/callback"],
  });
});
