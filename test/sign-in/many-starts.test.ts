// Hundreds of sign-ins that one caller begins, next to those of others.
import { expect, test } from "vitest";
import { startAuthServer, startProtected } from "../fixtures/auth-server.ts";
import { openTarget, type RawAnswer, type Target } from "../security/attack.ts";

const TOKENS = { ann: { token: "t0ken-ann-1" }, ben: { token: "t0ken-ben-2" }, eve: { token: "t0ken-eve-3" } };
type Name = keyof typeof TOKENS;

function openHub(url: string, workers: number): Promise<Target> {
  return openTarget({
    server: { tokens: TOKENS, workers },
    mcp: { remote_servers: ["far", "near"].map((alias) => ({ alias, url, credentials: "per-caller" as const })) },
    builtin: { execute_code: false },
  });
}

function begin(hub: Target, name: Name, source = "far"): Promise<RawAnswer> {
  return hub.send({
    path: "/sign-in",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Bearer ${TOKENS[name].token}`,
    },
    body: `source=${source}`,
  });
}

/** Simulates the browser's way from the issuer back to the hub, after the response to a form. */
async function finish({ headers }: RawAnswer): Promise<number> {
  const cookie = headers["set-cookie"]![0]!.split(";")[0]!;
  const back = await fetch(headers.location!, { redirect: "manual" });
  return (await fetch(back.headers.get("location")!, { headers: { cookie } })).status;
}

const counted = (answers: readonly RawAnswer[]): Record<string, number> =>
  Object.fromEntries([303, 429].map((status) => [status, answers.filter((one) => one.status === status).length]));

test.each([1, 2])(
  "with %i process(es), refuses one caller's flood, registers once, and keeps others' sign-ins",
  async (workers) => {
    await using auth = await startAuthServer();
    await using server = await startProtected(auth);
    await using hub = await openHub(server.url, workers);
    const ben = await begin(hub, "ben");
    const flood = await Promise.all(Array.from({ length: 300 }, () => begin(hub, "ann")));
    expect(counted(flood)).toEqual({ 303: 10, 429: 290 });
    const refused = flood.find(({ status }) => status === 429)!;
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.body).toContain("10 sign-ins to `far` were started within 60 s");
    // Sign-ins to another source, and those of another caller, can begin as before.
    expect((await begin(hub, "ann", "near")).status).toBe(303);
    const eve = await begin(hub, "eve");
    expect(await Promise.all([finish(ben), finish(eve)])).toEqual([200, 200]);
    // The hub registered once for each source.
    expect(auth.registered).toHaveLength(2);
  },
);

test("of one caller's sign-ins, only the newest eight can be completed", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url, 1);
  const begun: RawAnswer[] = [];
  for (let at = 0; at < 10; at += 1) begun.push(await begin(hub, "ann"));
  expect([await finish(begun[0]!), await finish(begun[1]!), await finish(begun[9]!)]).toEqual([400, 400, 200]);
});

test("the next sign-in repeats a failed registration", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using hub = await openHub(server.url, 1);
  auth.switches.refuses = (where) => (where === "register" ? "invalid_request" : undefined);
  expect((await begin(hub, "ann")).status).toBe(502);
  auth.switches.refuses = () => undefined;
  expect(await finish(await begin(hub, "ann"))).toBe(200);
});
