// Callers whose client cannot open a link: the error text contains one.
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { EraName } from "../fixtures/raw/raw-client.ts";
import { serveHub } from "../fixtures/served-hub.ts";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { openTarget, rpc, type Target } from "../security/attack.ts";

const TOKENS = { ann: { token: "t0ken-ann-1" }, ben: { token: "t0ken-ben-2" } };

function openHub(url: string, server: object = {}): Promise<Target> {
  const far = { alias: "far", url, credentials: "per-caller" as const };
  return openTarget({ server, mcp: { remote_servers: [far] }, builtin: { execute_code: false } });
}

const LINK = /open (http:\/\/\S+\/sign-in\/[\w-]+) in a browser, enter the code (\d{6}) there/;

/** Simulates a user who reads the error: opens the link, enters the code, and returns from the issuer. */
async function follow(said: string): Promise<number> {
  const [, url, code] = LINK.exec(said)!;
  const given = await fetch(url!, { method: "POST", body: new URLSearchParams({ code: code! }), redirect: "manual" });
  const cookie = given.headers.get("set-cookie")!.split(";")[0]!;
  const back = await fetch(given.headers.get("location")!, { redirect: "manual" });
  return (await fetch(back.headers.get("location")!, { headers: { cookie } })).status;
}

const CLIENTS: readonly [what: string, era: EraName, capabilities: JsonObject][] = [
  ["a legacy client that declares nothing", "legacy", {}],
  ["a modern client that declares nothing", "modern", {}],
  ["a legacy client that knows forms only", "legacy", { elicitation: {} }],
  ["a modern client that knows forms only", "modern", { elicitation: { form: {} } }],
  ["a client that declares other things", "legacy", { sampling: {}, roots: {} }],
];

test.each(CLIENTS)("%s receives a link that signs its own caller in", async (_, era, capabilities) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url, { tokens: TOKENS });
  const ann = await hub.client(TOKENS.ann.token, { era, capabilities });
  const said = JSON.stringify(await ann.tool("far__sign_in"));
  expect(await follow(said)).toBe(200);
  await expect
    .poll(async () => JSON.stringify(await ann.tool("far__echo", { text: "in" })), { timeout: 30_000 })
    .toContain('"in"');
  const ben = await hub.client(TOKENS.ben.token, { era, capabilities });
  const other = JSON.stringify(await ben.tool("far__sign_in"));
  expect(LINK.exec(other)?.[1]).not.toBe(LINK.exec(said)?.[1]);
});

test.each([1, 2])("with %i process(es), REST and JSON-RPC callers receive the link, too", async (workers) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url, { tokens: TOKENS, workers });
  const headers = { "content-type": "application/json", authorization: `Bearer ${TOKENS.ann.token}` };
  const rest = await hub.send({ path: "/api/tools/far__sign_in", headers, body: "{}" });
  const spoken = await hub.send({ path: "/jsonrpc", headers, body: rpc("far__sign_in") });
  const links = [rest, spoken].map(({ body }) => LINK.exec(body)?.[1]);
  expect(links[0]).toBeDefined();
  // Concurrent callers, and calls of one caller, share a link.
  expect(links[1]).toBe(links[0]);
  expect(await follow(rest.body)).toBe(200);
});

test("a new link replaces a used one", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url);
  const said: string[] = [];
  for (let time = 0; time < 2; time += 1) {
    const outcome = await hub.hub.call("far__sign_in");
    if (outcome.ok) throw new Error("signed in");
    said.push(outcome.message);
    const [, url, code] = LINK.exec(outcome.message)!;
    // The user opens the link and abandons the sign-in at the issuer.
    await fetch(url!, { method: "POST", body: new URLSearchParams({ code: code! }), redirect: "manual" });
  }
  expect(LINK.exec(said[1]!)![1]).not.toBe(LINK.exec(said[0]!)![1]);
});

test("gives no link to a caller that may not sign in for all callers", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openTarget({
    server: { tokens: TOKENS },
    mcp: { remote_servers: [{ alias: "far", url: server.url }] },
    builtin: { execute_code: false },
  });
  const ann = await hub.client(TOKENS.ann.token, { capabilities: {} });
  const said = JSON.stringify(await ann.tool("far__sign_in"));
  expect(said).toMatch(new RegExp(`toolyard login far\\\\?\` or at http://127.0.0.1:${hub.port}/sign-in`));
  expect(said).not.toMatch(LINK);
  expect(auth.registered).toEqual([]);
});

test.each(["legacy", "modern"] as const)("a %s client on stdio receives a link to this machine", async (era) => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await serveHub({ mcp: { remote_servers: [{ alias: "far", url: server.url }] } }, "stdio");
  const client = await hub.connect({ era, capabilities: {} });
  expect(await follow(JSON.stringify(await client.tool("far__sign_in")))).toBe(200);
  await expect
    .poll(async () => JSON.stringify(await client.tool("far__echo", { text: "in" })), { timeout: 30_000 })
    .toContain('"in"');
});
