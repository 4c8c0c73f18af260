// Signing in by the hub's own pages, as browsers and chats come to them.
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import type { Asked } from "../fixtures/raw/raw-client.ts";
import { openTarget, type Target } from "../security/attack.ts";

const TOKENS = { ann: { token: "t0ken-ann" }, ben: { token: "t0ken-ben" } };

function openHub(url: string, server: object = {}): Promise<Target> {
  const far = { alias: "far", url, credentials: "per-caller" as const };
  return openTarget({ server, mcp: { remote_servers: [far] }, builtin: { execute_code: false } });
}

/** A person's browser: from the link by the code to the issuer, and back to the hub. */
async function follow({ params }: Asked): Promise<JsonObject> {
  const code = /code (\d{6})/.exec(String(params["message"]))![1]!;
  const given = await fetch(String(params["url"]), {
    method: "POST",
    body: new URLSearchParams({ code }),
    redirect: "manual",
  });
  await finish(given);
  return { action: "accept" };
}

async function finish(sent: Response): Promise<number> {
  const cookie = sent.headers.get("set-cookie")!.split(";")[0]!;
  const back = await fetch(sent.headers.get("location")!, { redirect: "manual" });
  return (await fetch(back.headers.get("location")!, { headers: { cookie } })).status;
}

test.each(["legacy", "modern"] as const)(
  "a %s chat with a token signs in by the tool that leads there, by the hub's pages",
  async (era) => {
    await using auth = await startAuthServer();
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

test("the page of the hub leads there, and only the browser that began comes back, once", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const home = await fetch(`http://127.0.0.1:${hub.port}/`, { headers: { accept: "text/html" } });
  expect(await home.text()).toContain("/sign-in?source=far");
  const { sent, back } = await backOf(auth, hub);
  const cookie = sent.headers.get("set-cookie")!.split(";")[0]!;
  const statuses = [];
  for (const headers of [{}, { cookie: `${cookie}x` }, { cookie }, { cookie }])
    statuses.push((await fetch(back, { headers: headers as Record<string, string> })).status);
  expect(statuses).toEqual([403, 403, 200, 400]);
  expect(auth.asked).toHaveLength(1);
});

test.each<[string, Record<string, string>, number]>([
  ["a form of another site", { origin: "https://evil.example" }, 403],
  ["a name that somebody made lead here", { host: "evil.example" }, 403],
  ["the hub's own form", {}, 303],
])("a sign-in begins by %s as it should", async (_, headers, status) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const host = { host: `127.0.0.1:${hub.port}` };
  const request = { path: "/sign-in", headers: { ...host, ...type, ...headers }, body: "source=far" };
  expect((await hub.send(request)).status).toBe(status);
});

test("a callback that belongs to nothing, and a link that nobody has, are told so", async () => {
  await using hub = await openHub("http://127.0.0.1:9/mcp", { tokens: TOKENS });
  const get = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${hub.port}${path}`)).status;
  expect(await get("/oauth/callback?code=a&state=b")).toBe(400);
  expect(await get("/sign-in/guessed")).toBe(410);
  expect(await get("/sign-in")).toBe(401);
  expect(await get("/oauth/client.json")).toBe(404);
});

test("a hub with an https address says who it is", async () => {
  await using hub = await openHub("http://127.0.0.1:9/mcp", { public_url: "https://hub.example.com/" });
  const answer = await fetch(`http://127.0.0.1:${hub.port}/oauth/client.json`);
  expect(await answer.json()).toMatchObject({
    client_id: "https://hub.example.com/oauth/client.json",
    redirect_uris: ["https://hub.example.com/oauth/callback"],
  });
});
