// Issuers that are slow or change, and clocks that differ.
import { expect, test } from "vitest";
import { keyOf } from "../../packages/toolyard/src/signin/context.ts";
import { startAuthServer, startProtected, type AuthServer } from "../fixtures/auth-server.ts";
import { echo, Home, says } from "./harness.ts";

/** Shifts the vault's times, as if a different clock had written them. */
async function shiftClock(home: Home, url: string, ms: number): Promise<void> {
  const context = home.context({ url });
  await context.vault.update(keyOf(context), (record) => {
    const tokens = record!.tokens!;
    return { ...record!, tokens: { ...tokens, obtainedAt: tokens.obtainedAt + ms } };
  });
}

function renewals(auth: AuthServer): number {
  return auth.asked.filter(({ form }) => form.get("grant_type") === "refresh_token").length;
}

test("a slow issuer delays a call only up to its limit, and causes no sign-in", async () => {
  await using auth = await startAuthServer();
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  const provider = home.open({ url: server.url });
  await echo(provider, "in");
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  auth.switches.before = () => held;
  auth.expire();
  const late = await echo(provider, "late", { totalMs: 300 });
  expect(late).toMatchObject({ ok: false, kind: "timeout" });
  expect(provider.status().state).toBe("ready");
  release();
  await expect.poll(() => echo(provider, "in"), { timeout: 30_000 }).toMatchObject(says("in"));
  expect([renewals(auth), auth.authorized.length]).toEqual([1, 1]);
});

test("a server with a new issuer requires a sign-in there, and the new issuer gets no secret of the old", async () => {
  await using before = await startAuthServer();
  await using after = await startAuthServer();
  let auth = before;
  const named = {
    get url() {
      return auth.url;
    },
    accepts: (given: string | undefined) => auth.accepts(given),
  };
  await using server = await startProtected(named);
  await using home = new Home();
  await home.login({ url: server.url });
  const provider = home.open({ url: server.url });
  expect(await echo(provider, "old")).toMatchObject(says("old"));
  auth = after;
  expect(await echo(provider, "between")).toMatchObject({ ok: false, kind: "needs_authorisation" });
  expect((await provider.listing()).tools.map(({ name }) => name)).toContain("echo");
  const { server: found } = await home.login({ url: server.url });
  expect(found.issuer).toBe(after.url);
  await expect.poll(() => echo(provider, "new"), { timeout: 30_000 }).toMatchObject(says("new"));
  expect(after.registered).toHaveLength(1);
  const shown = JSON.stringify(after.asked.map(({ form, headers }) => [form.toString(), headers]));
  for (const secret of before.secrets) expect(shown).not.toContain(secret);
});

test.each([120_000, -120_000])("a clock that is off by %i ms costs at most one renewal, and no sign-in", async (ms) => {
  await using auth = await startAuthServer({ lifetime: 60 });
  await using server = await startProtected(auth);
  await using home = new Home();
  await home.login({ url: server.url });
  await shiftClock(home, server.url, ms);
  // The client believes that the token is valid; the issuer's clock advances.
  if (ms > 0) auth.expire();
  const provider = home.open({ url: server.url });
  const outcomes = await Promise.all(["a", "b", "c"].map((text) => echo(provider, text)));
  expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
  expect([renewals(auth), auth.authorized.length]).toEqual([1, 1]);
});
