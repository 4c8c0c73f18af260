import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../core/json/json.ts";
import { fixture, run, type Running } from "../../../../../test/fixtures/upstreams/harness.ts";

const dual = fixture("dual");
const accept = async (): Promise<JsonObject> => ({ action: "accept" });
const legacy = {
  client: { connection: "old", era: "legacy" as const, capabilities: { elicitation: {} } },
  onAsk: accept,
};
const plainLegacy = { client: { connection: "plain", era: "legacy" as const, capabilities: {} } };
const modern = { client: { connection: "new", era: "modern" as const, capabilities: { elicitation: {} } } };

const always = { options: { legacy_process: "always" as const } };

async function file(name: string): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "toolyard-eras-")), name);
}

async function linesOf(path: string): Promise<string[]> {
  return (await readFile(path, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
}

const secondProcess = { for: "callers of the legacy era", state: "ready", era: "legacy" };

test("runs calls of legacy callers in the modern process, even if these callers accept server requests", async () => {
  const record = await file("pids");
  await using server = run(dual, [`record=${record}`]);
  const pid = await server.text("pid", {}, modern);
  const callers = [legacy, plainLegacy, modern].map(({ client }, at) => ({
    client: { ...client, connection: `client ${at}`, capabilities: { elicitation: {}, sampling: {}, roots: {} } },
    onAsk: accept,
  }));
  for (const caller of callers) expect(await server.text("pid", {}, caller)).toBe(pid);
  expect(await server.json("input", {}, callers[0])).toEqual({ action: "accept" });
  expect(server.provider.status().info).not.toHaveProperty("further");
  expect(await linesOf(record)).toEqual([pid]);
});

test("repeats a legacy call in a second process if the modern era could not send its server request", async () => {
  const [record, asked] = [await file("pids"), await file("asked")];
  await using server = run(dual, [`record=${record}`, `asked=${asked}`]);
  const pid = await server.text("pid", {}, legacy);
  expect(await server.json("ask", { message: "name?" }, legacy)).toEqual({ action: "accept" });
  expect(await server.json("ask", { message: "name?" }, legacy)).toEqual({ action: "accept" });
  // Only the first call is made twice.
  expect(await linesOf(asked)).toEqual(["modern", "legacy", "legacy"]);
  expect(server.provider.status().info).toMatchObject({ era: "modern", further: [secondProcess] });
  expect(server.lines.all.map(({ message }) => message)).toContain("A further connection to this server is open.");
  // Other calls of the same client use the first process, which has the state.
  expect(await server.text("pid", {}, legacy)).toBe(pid);
  expect(await linesOf(record)).toHaveLength(2);
});

test("starts one second process for several concurrent legacy calls that send server requests", async () => {
  const record = await file("pids");
  await using server = run(dual, [`record=${record}`]);
  await server.listing();
  const callers = ["a", "b", "c"].map((connection) => ({ ...legacy, client: { ...legacy.client, connection } }));
  const answers = await Promise.all(callers.map((caller) => server.json("ask", {}, caller)));
  expect(answers).toEqual([{ action: "accept" }, { action: "accept" }, { action: "accept" }]);
  expect(await linesOf(record)).toHaveLength(2);
});

test("remembers after a restart which tools send server requests, and calls each of them only once", async () => {
  const [cacheFolder, asked] = [await mkdtemp(join(tmpdir(), "toolyard-eras-")), await file("asked")];
  {
    await using first = run(dual, [`asked=${asked}`], { cacheFolder });
    await first.listing();
    await first.json("ask", {}, legacy);
  }
  await using second = run(dual, [`asked=${asked}`], { cacheFolder });
  await second.listing();
  expect(await second.json("ask", {}, legacy)).toEqual({ action: "accept" });
  expect(await linesOf(asked)).toEqual(["modern", "legacy", "legacy"]);
});

test("does not repeat a call after a user declined, nor a call whose caller accepts no server requests", async () => {
  const asked = await file("asked");
  await using server = run(dual, [`asked=${asked}`]);
  expect(await server.call("declined", {}, legacy)).toMatchObject({ ok: false, kind: "tool_error" });
  expect(await server.call("ask", {}, plainLegacy)).toMatchObject({ ok: false, kind: "tool_error" });
  expect(await server.call("ask", {}, modern)).toMatchObject({ ok: false, kind: "tool_error" });
  expect(await linesOf(asked)).toEqual(["modern", "modern", "modern"]);
  expect(server.provider.status().info).not.toHaveProperty("further");
});

test("keeps one process of a server that changes its lists during calls, and logs the limitation", async () => {
  const record = await file("pids");
  await using server = run(dual, ["announces", `record=${record}`]);
  await server.listing();
  const changed = new Promise<void>((resolve) => server.provider.events.changed.on(resolve));
  await server.text("grow", {}, modern);
  await changed;
  for (let call = 0; call < 3; call += 1)
    expect(await server.call("ask", {}, legacy)).toMatchObject({ ok: false, kind: "tool_error" });
  const hints = server.lines.all.filter(({ message }) => message.includes("could not ask its caller"));
  expect(hints).toMatchObject([{ level: "warning", message: expect.stringContaining('`era = "legacy"`') }]);
  expect(await linesOf(record)).toHaveLength(1);
});

test("keeps one process with legacy_process = never, and starts two immediately with always", async () => {
  const record = await file("pids");
  await using one = run(dual, [`record=${record}`], { options: { legacy_process: "never" } });
  expect(await one.call("ask", {}, legacy)).toMatchObject({ ok: false, kind: "tool_error" });
  expect(await linesOf(record)).toHaveLength(1);
  await using two = run(dual, [], always);
  const pid = await two.text("pid", {}, modern);
  expect(await two.text("pid", {}, legacy)).not.toBe(pid);
  expect(two.provider.status().info).toMatchObject({ further: [secondProcess] });
});

test("uses the first process for a modern caller, and for a legacy one without capabilities", async () => {
  await using server = run(dual);
  const pid = await server.text("pid", {}, modern);
  expect(await server.text("pid", {}, plainLegacy)).toBe(pid);
  expect(await server.text("era", {}, plainLegacy)).toBe("modern");
});

test("serves all callers over the modern handshake if the server refuses the legacy one", async () => {
  await using server = run(dual, ["refuses=legacy"], always);
  const pid = await server.text("pid", {}, modern);
  // Several concurrent calls detect together that the server refuses the legacy handshake.
  expect(await Promise.all([1, 2, 3].map(() => server.text("pid", {}, legacy)))).toEqual([pid, pid, pid]);
  expect(server.provider.status().info).not.toHaveProperty("further");
});

test("remembers after a restart, until the server changes, that it refuses the legacy handshake", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-eras-"));
  const [record, version] = [join(folder, "pids"), join(folder, "version")];
  const startsFor = async (named: string): Promise<number> => {
    await writeFile(version, named);
    await using server = run(dual, ["refuses=legacy", `record=${record}`, `version=${version}`], {
      cacheFolder: folder,
      ...always,
    });
    await server.provider.refresh!(AbortSignal.timeout(60_000));
    const before = (await readFile(record, "utf8")).split("\n").length;
    await server.text("pid", {}, legacy);
    return (await readFile(record, "utf8")).split("\n").length - before;
  };
  expect([await startsFor("1"), await startsFor("1"), await startsFor("2")]).toEqual([1, 0, 1]);
});

test('uses only the configured era, for all callers, with era = "legacy" and era = "modern"', async () => {
  await using old = run(dual, [], { options: { era: "legacy" } });
  expect([await old.text("era", {}, modern), await old.text("era", {}, legacy)]).toEqual(["legacy", "legacy"]);
  await using young = run(dual, [], { options: { era: "modern" } });
  expect([await young.text("era", {}, modern), await young.text("era", {}, legacy)]).toEqual(["modern", "modern"]);
});

test("reports a server that refuses the only allowed era as unavailable, and names the option", async () => {
  await using old = run(dual, ["refuses=legacy"], { options: { era: "legacy" } });
  const failure = { ok: false, kind: "unavailable", message: expect.stringContaining('`era = "legacy"`') };
  expect(await old.call("pid", {}, legacy)).toMatchObject(failure);
  await using young = run(dual, ["refuses=modern"], { options: { era: "modern" } });
  expect(await young.call("pid", {}, legacy)).toMatchObject({
    ok: false,
    kind: "unavailable",
    message: expect.stringContaining('`era = "modern"`'),
  });
});

test("uses the first caller's era for the first process, and starts no second one for that caller", async () => {
  const record = join(await mkdtemp(join(tmpdir(), "toolyard-eras-")), "pids");
  await using server = run(dual, [`record=${record}`], { firstCallerEra: Promise.resolve("legacy" as const) });
  expect(await server.json("ask", {}, legacy)).toEqual({ action: "accept" });
  expect(await server.text("era", {}, modern)).toBe("legacy");
  expect((await readFile(record, "utf8")).trim().split("\n")).toHaveLength(1);
});

test("uses the modern era with a slow server of both eras that received both handshakes", async () => {
  const started = join(await mkdtemp(join(tmpdir(), "toolyard-eras-")), "started");
  await using server = run(dual, [`starts-slowly=${started}`]);
  expect(await server.text("era", {}, modern)).toBe("modern");
  expect(server.provider.status().info).toMatchObject({ era: "modern" });
});

test("reads the list again after a change that only the legacy process reports", async () => {
  await using server = run(dual, [], always);
  const before = await server.listing();
  expect(before.tools.map(({ name }) => name)).not.toContain("grown_0");
  const changed = new Promise<void>((resolve) => server.provider.events.changed.on(resolve));
  await server.text("grow", {}, modern);
  await server.text("grow", {}, legacy);
  await changed;
  expect((await server.listing()).tools.map(({ name }) => name)).toContain("grown_0");
});

test("subscribes on a connection of the caller's era", async () => {
  await using server = run(dual, [], always);
  await server.listing();
  const updates: unknown[] = [];
  server.provider.events.resourceUpdated.on(({ params }) => updates.push(params["era"]));
  const endFirst = await server.provider.subscribe!("test://one", {
    principal: LOCAL_PRINCIPAL,
    client: { ...modern.client },
  });
  const endSecond = await server.provider.subscribe!("test://one", {
    principal: LOCAL_PRINCIPAL,
    client: { ...legacy.client },
  });
  await expect.poll(() => updates).toEqual(["modern", "legacy"]);
  await Promise.all([endFirst(), endSecond()]);
});

test("subscribes on the first connection if the server has no subscriptions in the caller's era", async () => {
  await using server = run(dual, ["modern-subscriptions"], always);
  await server.listing();
  const updates: unknown[] = [];
  server.provider.events.resourceUpdated.on(({ params }) => updates.push(params["era"]));
  const end = await server.provider.subscribe!("test://one", {
    principal: LOCAL_PRINCIPAL,
    client: { ...legacy.client },
  });
  await expect.poll(() => updates).toEqual(["modern"]);
  await end();
});

test("gives lists of both eras the same digests, so that pins apply to both", async () => {
  const digestIn = async (era: "legacy" | "modern"): Promise<string | undefined> => {
    await using server = run(dual, ["own-members"], { options: { era, pins: { pid: "" } } });
    return (await server.listing()).problems.find(({ subject }) => subject === "pid")?.message;
  };
  expect(await digestIn("legacy")).toContain("current digest");
  expect(await digestIn("legacy")).toBe(await digestIn("modern"));
});

test("makes all lists private if the server marks one as private, and none otherwise", async () => {
  await using young = run(dual, [], { options: { era: "modern" } });
  expect((await young.listing()).isPrivate).toBe(true);
  await using old = run(dual, [], { options: { era: "legacy" } });
  expect((await old.listing()).isPrivate).toBeUndefined();
});

test("reads an expired list again, even if the server can announce changes and has not announced one", async () => {
  await using server = run(dual, [], { options: { era: "modern" } });
  const names = async (): Promise<string[]> => (await server.provider.listing()).tools.map(({ name }) => name);
  expect(await names()).not.toContain("grown_0");
  await server.text("grow", {}, modern);
  await expect.poll(names, { timeout: 10_000 }).toContain("grown_0");
});

test.each(["ends", "is-ignored"])(
  "serves legacy callers over the modern era if the server %s at `initialize`, even the first caller",
  async (how) => {
    const options = { connect_timeout: "6s", legacy_process: "always" as const };
    await using server = run(dual, [`initialize=${how}`], { options });
    const pid = await server.text("pid", {}, modern);
    expect(await server.text("pid", {}, { ...legacy, idleMs: 60_000 })).toBe(pid);
    await using first = run(dual, [`initialize=${how}`], {
      options,
      firstCallerEra: Promise.resolve("legacy" as const),
    });
    expect(await first.text("era", {}, { ...legacy, idleMs: 60_000 })).toBe("modern");
  },
);

test.each([
  ["ends", "dies-at-probe"],
  ["says nothing", "silent"],
])("serves a modern first caller if a legacy server %s at the modern probe", async (_how, fault) => {
  await using server = run(fixture("legacy"), [fault], {
    firstCallerEra: Promise.resolve("modern" as const),
    options: { connect_timeout: "60s" },
  });
  expect(await server.text("pid", {}, { ...modern, idleMs: 60_000 })).toMatch(/^\d+$/);
  expect(server.provider.status().info).toMatchObject({ era: "legacy" });
});

test.each([["local"], ["other"]])(
  "runs calls of modern callers (%s) concurrently after a server request to a legacy caller, and after a restart",
  async (principal) => {
    const cacheFolder = await mkdtemp(join(tmpdir(), "toolyard-eras-"));
    const goSideBySide = async (server: Running): Promise<void> => {
      const end = new AbortController();
      const hanging = server.call("hang", {}, { client: { ...modern.client, connection: "slow" }, signal: end.signal });
      expect(await server.text("era", {}, { ...modern, principal })).toBe("modern");
      expect(server.provider.status().info).not.toHaveProperty("takesTurns");
      end.abort();
      await hanging;
    };
    {
      await using server = run(dual, [], { cacheFolder });
      await server.listing();
      await server.text("ask", {}, legacy);
      await server.call("die", {}, modern);
      await goSideBySide(server);
    }
    await using again = run(dual, [], { cacheFolder });
    await goSideBySide(again);
  },
);

test("renews a legacy caller's subscription after its process was lost, without a call", async () => {
  await using server = run(dual, [], always);
  await server.listing();
  const updates: unknown[] = [];
  server.provider.events.resourceUpdated.on(({ params }) => updates.push(params["era"]));
  const end = await server.provider.subscribe!("test://one", {
    principal: LOCAL_PRINCIPAL,
    client: { ...legacy.client },
  });
  await expect.poll(() => updates).toEqual(["legacy"]);
  process.kill(Number(await server.text("pid", {}, legacy)), "SIGKILL");
  await expect.poll(() => updates).toEqual(["legacy", "legacy"]);
  await end();
});

test("keeps a session's own server while its caller answers a request between two calls", async () => {
  await using server = run(dual, [], { options: { era: "modern", isolation: "session", max_sessions: 1 } });
  await server.listing();
  let answer = (_result: JsonObject): void => {};
  let wasAsked = (): void => {};
  const asked = new Promise<void>((resolve) => (wasAsked = resolve));
  const onAsk = (): Promise<JsonObject> => (wasAsked(), new Promise((resolve) => (answer = resolve)));
  const asking = server.json("input", {}, { ...legacy, onAsk });
  await asked;
  expect(await server.call("pid", {}, plainLegacy)).toMatchObject({ ok: false, kind: "limited" });
  answer({ action: "accept" });
  expect(await asking).toEqual({ action: "accept" });
});
