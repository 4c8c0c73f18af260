import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type ServerRequest } from "../../packages/toolyard/src/core/calls/call.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Provider } from "../../packages/toolyard/src/core/sources/provider.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import { sendJson } from "../fixtures/http-servers.ts";
import { echo, Home, says } from "./harness.ts";

const LINKS = { elicitation: { form: {}, url: {} } };

/** A source with an expired sign-in. */
async function signedOut(home: Home, auth: AuthServer, url: string): Promise<Provider> {
  await home.login({ url });
  const provider = home.open({ url });
  await echo(provider, "in");
  auth.expire();
  auth.switches.instead = ({ form }, response) => {
    if (form.get("grant_type") !== "refresh_token") return false;
    sendJson(response, 400, { error: "invalid_grant" });
    return true;
  };
  return provider;
}

interface Link {
  readonly url: string;
  readonly code: string;
}

function linkIn({ params }: ServerRequest): Link {
  const code = /code (\d{6})/.exec(String(params["message"]))![1]!;
  return { url: String(params["url"]), code };
}

/** Simulates a user's browser: enters the code, keeps the cookie, and follows redirects. */
async function follow({ url, code }: Link): Promise<number> {
  const given = await fetch(url, { method: "POST", body: new URLSearchParams({ code }), redirect: "manual" });
  if (given.status !== 303) return given.status;
  const cookie = given.headers.get("set-cookie")!.split(";")[0]!;
  const back = await fetch(given.headers.get("location")!, { redirect: "manual" });
  return (await fetch(back.headers.get("location")!, { headers: { cookie } })).status;
}

const accepting =
  (then: (link: Link) => Promise<unknown>) =>
  async (ask: ServerRequest): Promise<JsonObject> => {
    await then(linkIn(ask));
    return { action: "accept" };
  };

test("a call shows its caller a link if the server requires a sign-in, and continues afterwards", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = await signedOut(home, auth, server.url);
  const asked: ServerRequest[] = [];
  const outcome = await echo(provider, "back", {
    capabilities: LINKS,
    ask: async (ask) => {
      asked.push(ask);
      return accepting(follow)(ask);
    },
  });
  expect(outcome).toMatchObject(says("back"));
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ method: "elicitation/create", params: { mode: "url" } });
  expect(provider.status().state).toBe("ready");
});

test.each<[string, Parameters<typeof echo>[2]]>([
  ["that cannot be asked", { capabilities: {} }],
  ["that knows forms only", { capabilities: { elicitation: { form: {} } } }],
  ["of another principal", { capabilities: LINKS, principal: { ...LOCAL_PRINCIPAL, id: "anna" } }],
  ["from beyond this machine", { capabilities: LINKS, principal: { ...LOCAL_PRINCIPAL, remote: true } }],
])("gives a caller %s instructions without a server request", async (_, as) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = await signedOut(home, auth, server.url);
  const outcome = await echo(provider, "out", { ...as, ask: () => Promise.reject(new Error("asked")) });
  expect(outcome).toMatchObject({
    kind: "needs_authorisation",
    message: expect.stringContaining("toolyard login far"),
  });
});

test("returns the original failure to a caller that declines", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = await signedOut(home, auth, server.url);
  const ask = (): Promise<JsonObject> => Promise.resolve({ action: "decline" });
  expect(await echo(provider, "out", { capabilities: LINKS, ask })).toMatchObject({ kind: "needs_authorisation" });
  expect(auth.authorized).toHaveLength(1);
});

test("the sign-in page names source and principal, and requires the code", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = await signedOut(home, auth, server.url);
  const seen: unknown[] = [];
  const ask = accepting(async (link) => {
    const page = await fetch(link.url);
    const wrong = link.code === "000000" ? "000001" : "000000";
    seen.push(page.headers.get("content-security-policy"), await page.text(), await follow({ ...link, code: wrong }));
    const body = new URLSearchParams({ code: link.code });
    const given = await fetch(link.url, { method: "POST", body, redirect: "manual" });
    seen.push(given.status, await follow(link), (await fetch(link.url)).status);
    const cookie = given.headers.get("set-cookie")!.split(";")[0]!;
    const back = await fetch(given.headers.get("location")!, { redirect: "manual" });
    await fetch(back.headers.get("location")!, { headers: { cookie } });
  });
  expect(await echo(provider, "back", { capabilities: LINKS, ask })).toMatchObject(says("back"));
  const [policy, text, ...statuses] = seen;
  expect(policy).toContain("frame-ancestors 'none'");
  expect(text).toMatch(/Sign in to far[^]*as local/);
  expect(text).not.toContain(auth.url);
  // A wrong code, the right one, and the same link twice more.
  expect(statuses).toEqual([403, 303, 410, 410]);
});

test("a link is invalid after five wrong codes", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = await signedOut(home, auth, server.url);
  const statuses: number[] = [];
  const ask = async (question: ServerRequest): Promise<JsonObject> => {
    const link = linkIn(question);
    const wrong = link.code === "000000" ? "000001" : "000000";
    for (let round = 0; round < 5; round += 1) statuses.push(await follow({ ...link, code: wrong }));
    statuses.push(await follow(link));
    return { action: "cancel" };
  };
  await echo(provider, "out", { capabilities: LINKS, ask });
  expect(statuses).toEqual([403, 403, 403, 403, 403, 410]);
});

test("another browser than the one with the code cannot complete the sign-in", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  const provider = await signedOut(home, auth, server.url);
  const statuses: number[] = [];
  const ask = accepting(async ({ url, code }) => {
    const given = await fetch(url, { method: "POST", body: new URLSearchParams({ code }), redirect: "manual" });
    const back = (await fetch(given.headers.get("location")!, { redirect: "manual" })).headers.get("location")!;
    statuses.push((await fetch(back)).status);
    const cookie = given.headers.get("set-cookie")!.split(";")[0]!;
    statuses.push((await fetch(back, { headers: { cookie } })).status);
  });
  expect(await echo(provider, "back", { capabilities: LINKS, ask })).toMatchObject(says("back"));
  expect(statuses).toEqual([403, 200]);
});
