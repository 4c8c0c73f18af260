import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Gate } from "../../upstream/links/gate.ts";
import { CALLER, fixture, heard, run } from "../../../../../test/fixtures/upstreams/harness.ts";

const legacy = fixture("legacy");
const modern = fixture("modern");

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("C18: lists 10,000 tools over 100 pages", async () => {
  await using server = run(legacy, ["pages=100", "per-page=100"]);
  const { tools, problems } = await server.listed((listing) => listing.tools.length > 0);
  expect(tools).toHaveLength(10_000);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(10_000);
  expect(problems).toEqual([]);
});

test("stops at a repeated cursor, and keeps the listed tools", async () => {
  await using server = run(legacy, ["same-cursor"]);
  const { tools, problems } = await server.listing();
  expect(tools.map(({ name }) => name)).toEqual(["only"]);
  expect(problems.map(({ message }) => message).join()).toContain("same cursor");
});

test("reports broken tools as problems, and lists the others", async () => {
  await using server = run(legacy, ["broken-tool"]);
  const { tools, problems } = await server.listing();
  expect(tools.map(({ name }) => name)).toEqual(["good", "array-out", "fine"]);
  expect(tools[1]?.outputSchema).toBeUndefined();
  expect(problems.map(({ subject }) => subject).toSorted()).toEqual(["array-out", "bad", "tools[1]", "tools[4]"]);
});

test("requests resources, templates and prompts only if the server offers them", async () => {
  await using plain = run(legacy);
  await plain.listing();
  const { log } = (await plain.json("seen")) as { log: { method?: string }[] };
  expect(log.flatMap(({ method }) => method ?? []).filter((method) => method.endsWith("list"))).toEqual(["tools/list"]);
  await using rich = run(legacy, ["resources", "prompts", "logging"]);
  const listing = await rich.listing();
  expect(listing.resources).toMatchObject([{ uri: "test://one", definition: { "x-own": 1 } }]);
  expect(listing.prompts).toMatchObject([{ name: "greet" }]);
  expect(listing.features).toEqual({ completions: false, subscribe: true, logging: true });
  expect(listing.problems).toEqual([]);
});

test("reads resources and prompts, and reports an unknown resource", async () => {
  await using server = run(legacy, ["resources", "prompts"]);
  const read = (uri: string) => server.call(uri, {}, { method: "resources/read", record: { type: "resource", uri } });
  expect(await read("test://one")).toMatchObject({ ok: true, result: { contents: [{ text: "one" }] } });
  expect(await read("test://two")).toMatchObject({
    ok: false,
    kind: "unknown_tool",
    rpcError: { code: -32002, data: { uri: "test://two" } },
  });
  const [prompt] = (await server.listing()).prompts;
  expect(
    await server.call("greet", { who: "Ada" }, { method: "prompts/get", record: { type: "prompt", prompt: prompt! } }),
  ).toMatchObject({
    result: { messages: [{ content: { text: "greet Ada" } }] },
  });
});

test("reads a list again if it changed during a call, and announces a difference", async () => {
  await using server = run(legacy);
  await server.listing();
  const changed = heard(server.provider.events.changed);
  await server.text("grow");
  expect((await server.listing()).tools.map(({ name }) => name)).toContain("grown_0");
  await changed;
});

test("returns the same object for an unchanged source, also after a restart", async () => {
  await using server = run(legacy);
  const listing = await server.listing();
  expect(server.provider.listing()).toBe(listing);
  await server.call("die");
  await server.text("pid");
  expect(await server.listing()).toBe(listing);
});

test("S15: applies include, exclude, rename, texts, visibility and limits, and reports unmatched names", async () => {
  const options = {
    include: ["echo", "p*", "number"],
    exclude: ["progress"],
    rename: { pid: "number" },
    descriptions: { echo: "Repeats its input.", ehco: "typo" },
    keywords: ["demo"],
    visibility: "ondemand" as const,
    timeout: "90s",
    tool_timeouts: { echo: "10m" },
  };
  await using server = run(legacy, [], { options });
  const { tools, problems } = await server.listing();
  expect(tools.map(({ name, alias, description, limits }) => ({ name, alias, description, limits }))).toEqual([
    { name: "echo", alias: undefined, description: "Repeats its input.", limits: { timeoutMs: 600_000 } },
    { name: "pid", alias: "number", description: "The tool pid.", limits: { timeoutMs: 90_000 } },
  ]);
  expect(tools.every(({ visibility, keywords }) => visibility === "ondemand" && keywords[0] === "demo")).toBe(true);
  expect(problems.map(({ subject }) => subject)).toEqual(["ehco"]);
});

test("starts nothing with enabled = false", async () => {
  const folder = await temporaryFolder();
  await using server = run(legacy, [`record=${join(folder, "pids")}`], { options: { enabled: false } });
  expect((await server.listing()).tools).toEqual([]);
  expect(await server.call("echo")).toMatchObject({ ok: false, kind: "unavailable" });
  expect(server.provider.status().state).toBe("disabled");
  expect(await readdir(folder)).toEqual([]);
});

test("serves the last known listing while the server is away, without a secret of its command", async () => {
  const folder = await temporaryFolder();
  const wish = { cacheFolder: folder, options: { env: { API_KEY: "s3cret" } } };
  await using first = run(legacy, [], wish);
  const before = await first.listing();
  await first.provider.close();
  const [file, ...others] = await readdir(folder);
  expect(others).toEqual([]);
  const text = await readFile(join(folder, file!), "utf8");
  expect(text).not.toContain("s3cret");
  expect(text).not.toContain("legacy.mjs");
  await using second = run(legacy, [], { ...wish, gate: new Gate({ width: 0, holdMs: 1 }) });
  expect((await second.listing()).tools.map(({ name }) => name)).toEqual(before.tools.map(({ name }) => name));
  expect((await second.listing()).server).toMatchObject({
    info: { name: "fixture" },
    capabilities: { tools: { listChanged: true } },
  });
  expect(second.provider.status().state).toBe("starting");
});

test("ignores an invalid file of last known listings", async () => {
  const folder = await temporaryFolder();
  await using first = run(legacy, [], { cacheFolder: folder });
  await first.listing();
  await first.provider.close();
  const [file] = await readdir(folder);
  await writeFile(join(folder, file!), '{"format":1,"remembered":{"listing":');
  await using second = run(legacy, [], { cacheFolder: folder });
  expect((await second.listing()).tools.length).toBeGreaterThan(0);
});

test("start = lazy: with a known listing, starts nothing before a call, and ends the idle server", async () => {
  const folder = await temporaryFolder();
  const pids = join(folder, "pids");
  const wish = { cacheFolder: join(folder, "cache"), options: { start: "lazy" as const, idle_stop: "150ms" } };
  await using first = run(legacy, [`record=${pids}`], wish);
  expect((await first.listing()).tools.length).toBeGreaterThan(0);
  await first.provider.close();
  await using second = run(legacy, [`record=${pids}`], wish);
  expect((await second.listing()).tools.length).toBeGreaterThan(0);
  expect((await readFile(pids, "utf8")).trim().split("\n")).toHaveLength(1);
  expect(second.provider.status()).toMatchObject({ state: "ready", info: { asleep: true } });
  const pid = await second.text("pid");
  await expect.poll(() => second.provider.status().info).toMatchObject({ asleep: true });
  expect(await second.text("pid")).not.toBe(pid);
});

test("the first list waits for a server that was never listed, at most for the cold wait after its start", async () => {
  const held = join(await temporaryFolder(), "start");
  await using server = run(legacy, [`start-file=${held}`], { coldWaitMs: 50 });
  expect(server.provider.coldStart?.()?.waitUntil).toBeLessThan(performance.now() + 51);
  expect((await server.listing()).tools).toEqual([]);
  expect([server.provider.status().state, server.provider.coldStart?.()]).toMatchObject(["starting", {}]);
  const changed = heard(server.provider.events.changed);
  await writeFile(held, "");
  await changed;
  expect([server.provider.status().state, server.provider.coldStart?.()]).toEqual(["ready", undefined]);
  expect((await server.listing()).tools.length).toBeGreaterThan(0);
});

test("does not wait for a server that failed, or whose listing is known", async () => {
  const folder = await temporaryFolder();
  await using failing = run(legacy, ["dies-at-start"], { coldWaitMs: 600_000 });
  expect((await failing.listing()).tools).toEqual([]);
  expect(failing.provider.coldStart?.()).toBeUndefined();
  await using first = run(legacy, [], { cacheFolder: folder });
  await first.listing();
  await first.provider.close();
  await using known = run(legacy, [], { cacheFolder: folder, gate: new Gate({ width: 0, holdMs: 1 }) });
  await known.listing();
  expect(known.provider.coldStart?.()).toBeUndefined();
});

test("queues calls above max_concurrent", async () => {
  await using server = run(legacy, [], { options: { max_concurrent: 1 } });
  const end = new AbortController();
  const first = server.call("linger", {}, { signal: end.signal, onNotice: () => void waiting.then(() => end.abort()) });
  const waiting = server.call("pid", {}, { idleMs: 300 });
  expect(await waiting).toMatchObject({ ok: false, kind: "timeout" });
  expect(await first).toMatchObject({ ok: false, kind: "cancelled" });
  expect(await server.text("pid")).toMatch(/^\d+$/);
});

test("counts legacy subscribers of a URI, resubscribes after a restart, and passes updates on unchanged", async () => {
  await using server = run(legacy, ["resources"]);
  const updates: unknown[] = [];
  server.provider.events.resourceUpdated.on((event) => void updates.push(event));
  const first = await server.provider.subscribe!("test://one", CALLER);
  const second = await server.provider.subscribe!("test://one", CALLER);
  await expect.poll(() => updates).toEqual([{ uri: "test://one", params: { uri: "test://one", "x-own": 1 } }]);
  await first();
  await server.call("die");
  await expect.poll(() => updates.length).toBe(2);
  await second();
  const { log } = (await server.json("seen")) as { log: { method?: string }[] };
  expect(
    log
      .filter(({ method }) => method?.startsWith("resources/") && !method.endsWith("list"))
      .map(({ method }) => method),
  ).toEqual(["resources/subscribe", "resources/unsubscribe"]);
});

test("modern: uses one stream for list changes and subscriptions, and replaces it without a gap", async () => {
  await using server = run(modern);
  await server.listing();
  const updates: string[] = [];
  server.provider.events.resourceUpdated.on(({ uri }) => void updates.push(uri));
  const changed = heard(server.provider.events.changed);
  await server.text("grow");
  await changed;
  expect((await server.listing()).tools.map(({ name }) => name)).toContain("grown_0");
  const end = await server.provider.subscribe!("test://one", CALLER);
  await server.text("touch", { uri: "test://one" });
  await server.text("touch", { uri: "test://two" });
  expect(updates).toEqual(["test://one"]);
  await end();
  await server.text("touch", { uri: "test://one" });
  expect(updates).toEqual(["test://one"]);
  const { listens } = (await server.json("seen")) as { listens: object[] };
  expect(listens).toEqual([{ toolsListChanged: true, resourcesListChanged: true }]);
});

test("modern: handles notifications of a server that declares no list changes", async () => {
  await using server = run(modern, ["declares-nothing"]);
  await server.listing();
  const changed = heard(server.provider.events.changed);
  await server.text("grow");
  await changed;
  expect((await server.listing()).tools.map(({ name }) => name)).toContain("grown_0");
});

test("modern: does not warn about a server that neither declares nor sends list changes", async () => {
  await using server = run(modern, ["no-listen"]);
  await server.listing();
  const { log } = (await server.json("seen")) as { log: { method?: string }[] };
  expect(log.filter(({ method }) => method === "subscriptions/listen")).toHaveLength(1);
  expect(server.lines.all.filter(({ level }) => level === "warning")).toEqual([]);
});

test("modern: opens a listening stream again if it ends together with its acknowledgement", async () => {
  await using server = run(modern, ["drops-first"]);
  await server.listing();
  await expect.poll(async () => ((await server.json("seen")) as { listens: object[] }).listens).toHaveLength(1);
});

test("modern: opens a listening stream again if the server ends it", async () => {
  await using server = run(modern);
  await server.listing();
  await server.text("drop");
  await expect.poll(async () => ((await server.json("seen")) as { listens: object[] }).listens).toHaveLength(1);
  await server.text("grow");
  expect(
    (await server.listed(({ tools }) => tools.some(({ name }) => name === "grown_0"))).tools.length,
  ).toBeGreaterThan(0);
});
