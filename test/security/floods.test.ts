// Floods: one caller requests all of a limited resource. A newcomer within its share is served, and a single caller can
// use everything.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { Crowd } from "../../packages/toolyard/src/outbound/client/crowd.ts";
import { isRefused, openTarget, openUpstream, say, tool, wordsOf, type Target, type Upstream } from "./attack.ts";
import { BOUNDED, flood } from "./flood.ts";

const TOKENS = { ada: { token: "token-of-ada-1" }, bob: { token: "token-of-bob-2" } };

describe.each(Object.entries(BOUNDED))("%s", (_what, open) => {
  test.each(Array.from({ length: 25 }, (_, at) => at + 7001))(
    "during a flood of several callers, seed %i, all guarantees hold",
    async (seed) => {
      expect(await flood(open, seed)).toEqual([]);
    },
  );
});

describe("a hub with two callers", () => {
  let target: Target;
  let gate: Upstream;
  /** Answers the waiting calls of `gate`, and all later ones. */
  let release: () => void;
  /** Answers the oldest waiting call of `gate`. */
  let releaseOne: () => void;
  let waiting: number;

  beforeEach(async () => {
    waiting = 0;
    const held: (() => void)[] = [];
    let isOpen = false;
    releaseOne = () => held.shift()?.();
    release = () => {
      isOpen = true;
      while (held.length > 0) releaseOne();
    };
    gate = await openUpstream({
      tools: [tool("pass")],
      answer: async (method) => {
        if (method !== "tools/call") return undefined;
        waiting += 1;
        if (!isOpen) await new Promise<void>((resolve) => held.push(resolve));
        return { result: say("passed") };
      },
    });
  });

  afterEach(async () => {
    release();
    await target?.[Symbol.asyncDispose]();
    await gate.close();
  });

  const openHub = async (sandbox: JsonObject, server: JsonObject = {}): Promise<void> => {
    target = await openTarget({
      server: { tokens: TOKENS },
      sandbox,
      mcp: { remote_servers: [{ namespace: "gate", url: gate.url, ...server }] },
    });
    await target.hub.list();
  };

  const runner = async (token: string): Promise<(code: string, more?: JsonObject) => Promise<JsonObject>> => {
    const client = await target.client(token);
    return (code, more = {}) =>
      client.request("tools/call", { name: "execute_code", arguments: { language: "javascript", code, ...more } });
  };

  const valueOf = (reply: JsonObject): JsonObject =>
    objectMember(objectMember(reply, "result") ?? {}, "structuredContent") ?? {};

  test("while forty runs of one caller wait, starts another caller's first run at once, without 429", async () => {
    await openHub({ runs: 3, queue: 8 });
    const [ada, bob] = [await runner(TOKENS.ada.token), await runner(TOKENS.bob.token)];
    let ended = 0;
    const flooding = Array.from({ length: 40 }, async () => {
      const reply = await ada("await tools.gate.pass(); 'ada'");
      ended += 1;
      return reply;
    });
    // Two run, since one slot stays free for another principal; eight wait, thirty were refused.
    await vi.waitFor(() => expect([waiting, ended]).toEqual([2, 30]), 60_000);
    expect(valueOf(await bob("'bob'"))).toMatchObject({ ok: true, result: "bob" });
    expect([waiting, ended]).toEqual([2, 30]);
    release();
    const replies = await Promise.all(flooding);
    expect(replies.filter((reply) => !isRefused(reply))).toHaveLength(10);
  });

  test("with one slot, alternates runs of two principals, for any number of waiting runs", async () => {
    await openHub({ runs: 1, queue: 8 });
    const [ada, bob] = [await runner(TOKENS.ada.token), await runner(TOKENS.bob.token)];
    const pass = (who: string): string => `await tools.gate.pass({ who: '${who}' })`;
    const began = (): unknown[] =>
      gate.received.flatMap(({ method, params }) =>
        method === "tools/call" ? [objectMember(params, "arguments")?.["who"]] : [],
      );
    let ended = 0;
    const counted = async (run: Promise<JsonObject>): Promise<boolean> => {
      const reply = await run;
      ended += 1;
      return !isRefused(reply);
    };
    const runs = Array.from({ length: 12 }, () => counted(ada(pass("ada"))));
    // One run has started, eight wait, three were refused.
    await vi.waitFor(() => expect([began(), ended]).toEqual([["ada"], 3]), 60_000);
    // Each of these runs displaces a waiting run of the principal with more runs.
    const others = [counted(bob(pass("bob"))), counted(bob(pass("bob")))];
    await vi.waitFor(() => expect([began(), ended]).toEqual([["ada"], 5]), 60_000);
    for (let count = 2; count <= 5; count += 1) {
      releaseOne();
      await vi.waitFor(() => expect(began()).toHaveLength(count), 60_000);
    }
    expect(began()).toEqual(["ada", "bob", "ada", "bob", "ada"]);
    release();
    expect(await Promise.all(others)).toEqual([true, true]);
    expect((await Promise.all(runs)).filter(Boolean)).toHaveLength(7);
  });

  test("a single principal uses all slots except one for others, and the whole queue", async () => {
    await openHub({ runs: 3, queue: 3 });
    const ada = await runner(TOKENS.ada.token);
    const runs = Array.from({ length: 5 }, () => ada("await tools.gate.pass(); 1"));
    await vi.waitFor(() => expect(waiting).toBe(2), 60_000);
    release();
    for (const reply of await Promise.all(runs)) expect(wordsOf(reply)).toContain('"ok":true');
  });

  test("nine named sessions of one principal end no session of another", async () => {
    await openHub({ sessions: 4 });
    const [ada, bob] = [await runner(TOKENS.ada.token), await runner(TOKENS.bob.token)];
    await bob("globalThis.kept = 'of bob'", { session: "mine" });
    for (let at = 0; at < 9; at += 1) await ada(`globalThis.at = ${at}`, { session: `flood ${at}` });
    expect(valueOf(await bob("kept", { session: "mine" }))).toMatchObject({ result: "of bob", session: "kept" });
    expect(valueOf(await ada("at", { session: "flood 8" }))).toMatchObject({ result: 8, session: "kept" });
    expect(valueOf(await ada("typeof at", { session: "flood 0" }))).toMatchObject({ session: "lost" });
  });

  test("a single principal can use every session", async () => {
    await openHub({ sessions: 4 });
    const ada = await runner(TOKENS.ada.token);
    for (let at = 0; at < 4; at += 1) await ada(`globalThis.at = ${at}`, { session: `s${at}` });
    for (let at = 0; at < 4; at += 1)
      expect(valueOf(await ada("at", { session: `s${at}` }))).toMatchObject({ result: at, session: "kept" });
  });

  test("connections of a source: a single caller uses all, and loses one to a second caller even if busy", async () => {
    await openHub({}, { isolation: "session", max_sessions: 2 });
    const pass = async (token: string): Promise<JsonObject> =>
      (await target.client(token, { era: "legacy" })).request("tools/call", { name: "gate__pass", arguments: {} });
    const [first, second] = [pass(TOKENS.ada.token), pass(TOKENS.ada.token)];
    await vi.waitFor(() => expect(waiting).toBe(2), 60_000);
    expect(wordsOf(await pass(TOKENS.ada.token))).toContain("max_sessions");
    const newcomer = pass(TOKENS.bob.token);
    await vi.waitFor(() => expect(waiting).toBe(3), 60_000);
    release();
    expect(wordsOf(await newcomer)).toBe("passed");
    const words = [wordsOf(await first), wordsOf(await second)];
    expect(words).toContain("passed");
    expect(words).toContainEqual(expect.stringContaining("to make room for other callers"));
  });

  test("HTTP source: serves other calls while those of one caller wait for connections", async () => {
    await openHub({}, { max_connections: 2 });
    const pass = async (token: string, who: string): Promise<JsonObject> => {
      const client = await target.client(token);
      return client.request("tools/call", { name: "gate__pass", arguments: { who } });
    };
    const callers = (): unknown[] =>
      gate.received.flatMap(({ method, params }) =>
        method === "tools/call" ? [objectMember(params, "arguments")?.["who"]] : [],
      );
    const joined = vi.spyOn(Crowd.prototype, "join");
    // The caller gets all connections, since it is the only caller.
    const flooding = Array.from({ length: 8 }, () => pass(TOKENS.ada.token, "ada"));
    await vi.waitFor(() => expect([waiting, joined.mock.calls.length]).toEqual([2, 6]), 60_000);
    const newcomer = pass(TOKENS.bob.token, "bob");
    await vi.waitFor(() => expect(joined).toHaveBeenCalledTimes(7), 60_000);
    joined.mockRestore();
    releaseOne();
    await vi.waitFor(() => expect(callers()).toEqual(["ada", "ada", "bob"]), 60_000);
    release();
    for (const reply of await Promise.all([newcomer, ...flooding])) expect(wordsOf(reply)).toBe("passed");
  });

  test("cancelling calls that use all connections of a source frees them, and notifies the server", async () => {
    await openHub({}, { max_connections: 2 });
    const ending = new AbortController();
    const { signal } = ending;
    const pass = async (token: string, options = {}): Promise<JsonObject> =>
      (await target.client(token)).request("tools/call", { name: "gate__pass", arguments: {} }, options);
    const given = [pass(TOKENS.ada.token, { signal }), pass(TOKENS.ada.token, { signal })];
    await vi.waitFor(() => expect(waiting).toBe(2), 60_000);
    ending.abort();
    await Promise.allSettled(given);
    const next = pass(TOKENS.bob.token);
    await vi.waitFor(() => expect(waiting).toBe(3), 60_000);
    release();
    expect(wordsOf(await next)).toBe("passed");
    const cancelled = (): number => gate.received.filter(({ method }) => method === "notifications/cancelled").length;
    await vi.waitFor(() => expect(cancelled()).toBe(2), 60_000);
  });
});
