import { expect, test, vi } from "vitest";
import { CodeFlowRefused, type IssuedTokens } from "../../../core/ports/code-flow.ts";
import { LINK_MS, BrowserSessions } from "./sessions.ts";

function sessions(now = { ms: 0 }, maxSessions = 3): BrowserSessions {
  return new BrowserSessions({ sessionMs: 1000, maxSessions }, () => now.ms);
}

test("finds a session only by its cookie together with its key", () => {
  const kept = sessions();
  const [one, other] = [kept.open({ authorization: "Bearer a" }), kept.open({ authorization: "Bearer b" })];
  expect(kept.find(one.cookie, one.key)).toMatchObject({ authorization: "Bearer a" });
  expect(kept.find(other.cookie, other.key)).toMatchObject({ authorization: "Bearer b" });
  for (const [cookie, key] of [
    [one.cookie, ""],
    [one.cookie, other.key],
    ["", one.key],
    [other.cookie, one.key],
    [one.key, one.cookie],
    [`${one.cookie}x`, one.key],
  ] as const)
    expect(kept.find(cookie, key)).toBeUndefined();
});

test("ends a session when it has received no request for the idle time, and not before", () => {
  const now = { ms: 0 };
  const kept = sessions(now);
  const { cookie, key } = kept.open({ authorization: "Bearer a" });
  for (const ms of [900, 1800, 2700]) {
    now.ms = ms;
    expect(kept.find(cookie, key)).toBeDefined();
  }
  now.ms = 3800;
  expect(kept.find(cookie, key)).toBeUndefined();
  expect(kept.size).toBe(0);
});

test("at the limit of sessions, ends the least recently used session", () => {
  const kept = sessions();
  const [one, two, three] = [
    kept.open({ authorization: "Bearer 1" }),
    kept.open({ authorization: "Bearer 2" }),
    kept.open({ authorization: "Bearer 3" }),
  ];
  kept.find(one.cookie, one.key);
  kept.open({ authorization: "Bearer 4" });
  expect(kept.size).toBe(3);
  expect(kept.find(two.cookie, two.key)).toBeUndefined();
  expect(kept.find(one.cookie, one.key)).toBeDefined();
  expect(kept.find(three.cookie, three.key)).toBeDefined();
});

test("accepts the code of a sign-in link once and for a limited time", () => {
  const now = { ms: 0 };
  const kept = sessions(now);
  const code = kept.createLink("Bearer a");
  expect(kept.useLink("wrong")).toBeUndefined();
  expect(kept.useLink(code)).toMatchObject({ authorization: "Bearer a" });
  expect(kept.useLink(code)).toBeUndefined();
  const late = kept.createLink("Bearer a");
  now.ms = LINK_MS + 1;
  expect(kept.useLink(late)).toBeUndefined();
});

test("keeps a limited number of sign-in links", () => {
  const kept = sessions();
  const codes = Array.from({ length: 100 }, () => kept.createLink("Bearer a"));
  expect(codes.filter((code) => kept.useLink(code)).length).toBe(32);
});

interface FakeFlow {
  readonly name: "issuer";
  readonly refreshed: string[];
  readonly revoked: string[];
  refresh(token: string): Promise<IssuedTokens>;
  revoke(token: string): Promise<void>;
}

function flowWith(answer: (count: number) => IssuedTokens | Error): FakeFlow {
  const [refreshed, revoked]: [string[], string[]] = [[], []];
  return {
    name: "issuer",
    refreshed,
    revoked,
    refresh: async (token) => {
      refreshed.push(token);
      const found = answer(refreshed.length);
      if (found instanceof Error) throw found;
      return found;
    },
    revoke: async (token) => void revoked.push(token),
  };
}

function signedIn(flow: FakeFlow, now: { ms: number }, expiresAt = 100_000): [BrowserSessions, string, string] {
  const kept = new BrowserSessions({ sessionMs: 10_000_000, maxSessions: 3 }, () => now.ms);
  const tokens = { accessToken: "a0", refreshToken: "r0", expiresAt };
  const { cookie, key } = kept.open({ authorization: "Bearer a0", signedIn: { ...tokens, flow } });
  return [kept, cookie, key];
}

test("renews the access token of a sign-in once for concurrent requests, shortly before it expires", async () => {
  const now = { ms: 0 };
  const flow = flowWith((count) => ({ accessToken: `a${count}`, refreshToken: `r${count}`, expiresAt: 1_000_000 }));
  const [kept, cookie, key] = signedIn(flow, now);
  await kept.renew(cookie);
  expect(flow.refreshed).toEqual([]);
  now.ms = 80_000;
  await Promise.all([kept.renew(cookie), kept.renew(cookie), kept.renew(cookie)]);
  expect(flow.refreshed).toEqual(["r0"]);
  expect(kept.find(cookie, key)).toMatchObject({ authorization: "Bearer a1" });
});

test("keeps the refresh token of a server that does not rotate", async () => {
  const now = { ms: 80_000 };
  const flow = flowWith((count) => ({ accessToken: `a${count}`, expiresAt: 100_000 }));
  const [kept, cookie] = signedIn(flow, now);
  await kept.renew(cookie);
  await kept.renew(cookie);
  expect(flow.refreshed).toEqual(["r0", "r0"]);
});

test("ends the session if the authorization server refuses the refresh token", async () => {
  const now = { ms: 80_000 };
  const [kept, cookie, key] = signedIn(
    flowWith(() => new CodeFlowRefused("invalid_grant")),
    now,
  );
  await kept.renew(cookie);
  expect(kept.find(cookie, key)).toBeUndefined();
});

test("keeps the session while the authorization server does not answer", async () => {
  const now = { ms: 80_000 };
  const [kept, cookie, key] = signedIn(
    flowWith(() => new Error("connect ECONNREFUSED")),
    now,
  );
  await kept.renew(cookie);
  expect(kept.find(cookie, key)).toMatchObject({ authorization: "Bearer a0" });
  now.ms = 100_001;
  await expect(kept.renew(cookie)).rejects.toThrow("ECONNREFUSED");
  expect(kept.find(cookie, key)).toBeDefined();
});

test("rejects a renewal that fails after the access token has expired", async () => {
  const now = { ms: 99_000 };
  const [kept, cookie, key] = signedIn(
    flowWith(() => {
      now.ms = 100_001;
      return new Error("The server does not answer.");
    }),
    now,
  );
  await expect(kept.renew(cookie)).rejects.toThrow("does not answer");
  expect(kept.find(cookie, key)).toBeDefined();
});

test("revokes the tokens of a sign-in when its session ends, but not a token that began a session", () => {
  const flow = flowWith(() => new Error());
  const [kept, cookie] = signedIn(flow, { ms: 0 });
  kept.end(cookie);
  kept.end(cookie);
  kept.end(kept.open({ authorization: "Bearer b" }).cookie);
  expect(flow.revoked).toEqual(["r0"]);
});

test("revokes the tokens of a session that is removed, ended or expired, and of no other", async () => {
  const revoked: string[] = [];
  const flow = { name: "issuer" as const, refresh: vi.fn(), revoke: async (token: string) => void revoked.push(token) };
  const now = { ms: 0 };
  const kept = sessions(now, 2);
  const open = (name: string) => kept.open({ authorization: `Bearer ${name}`, signedIn: { accessToken: name, flow } });
  open("pushed-out");
  const [ended, expired] = [open("ended"), open("expired")];
  kept.end(ended.cookie);
  now.ms = 5000;
  kept.find(expired.cookie, expired.key);
  kept.open({ authorization: "Bearer static" });
  await expect.poll(() => revoked).toEqual(["pushed-out", "ended", "expired"]);
});

test("revokes the new tokens of a session that ends while they are requested", async () => {
  const revoked: string[] = [];
  let resolve = (_tokens: IssuedTokens): void => {};
  const promise = new Promise<IssuedTokens>((done) => (resolve = done));
  const flow = {
    name: "issuer" as const,
    refresh: () => promise,
    revoke: async (token: string) => void revoked.push(token),
  };
  const kept = sessions();
  const { cookie } = kept.open({
    authorization: "Bearer a",
    signedIn: { accessToken: "a", refreshToken: "old", expiresAt: 1, flow },
  });
  const renewed = kept.renew(cookie);
  kept.end(cookie);
  expect(revoked).toEqual([]);
  resolve({ accessToken: "b", refreshToken: "new", expiresAt: 1000 });
  await renewed;
  await expect.poll(() => revoked).toEqual(["new"]);
});
