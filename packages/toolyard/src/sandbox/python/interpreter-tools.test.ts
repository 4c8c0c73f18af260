import { afterAll, expect, test } from "vitest";
import type { HostReply } from "../engine.ts";
import { PythonWorker } from "../../../../../test/support/python-worker.ts";

const python = new PythonWorker();
afterAll(() => python[Symbol.asyncDispose]());

const failing = (): HostReply => ({ ok: false, kind: "unavailable", message: "the server is down", retryable: true });

test("returns the answer of an awaited tool as a value", async () => {
  const run = await python.run("r = await tools.files.read(path='a', n=[1, None])\nr['path']");
  expect(run).toMatchObject({ value: "a", calls: ["files.read"] });
});

test("accepts arguments by name or as one dict, and in no other way", async () => {
  expect((await python.run("await tools.a.b({'x': 1}, y=2)")).value).toEqual({ x: 1, y: 2 });
  expect((await python.run("await tools['my-server']['do it']()")).calls).toEqual(["my-server.do it"]);
  expect(await python.run("await tools.a.b(1, 2)")).toMatchObject({
    error: { type: "TypeError", message: expect.stringContaining("by name") },
    calls: [],
  });
  expect(await python.run("tools()")).toMatchObject({
    error: { type: "TypeError", message: expect.stringContaining("Name a tool") },
  });
});

test("runs calls of gather concurrently, up to the limit", async () => {
  let release = (): void => {};
  const eight = new Promise<void>((resolve) => (release = resolve));
  let begun = 0;
  const host = async (_: string, args: unknown): Promise<HostReply> => {
    if (++begun === 8) release();
    await eight;
    return { ok: true, json: JSON.stringify((args as { n: number }).n) };
  };
  const run = await python.run("import asyncio\nawait asyncio.gather(*[tools.t.x(n=i) for i in range(20)])", { host });
  expect(run).toMatchObject({ value: Array.from({ length: 20 }, (_, index) => index), mostAtOnce: 8 });
});

test("task groups, create_task, as_completed and wait_for accept tool calls without a wrapper", async () => {
  const code = `
import asyncio
async with asyncio.TaskGroup() as group:
    tasks = [group.create_task(tools.t.x(n=i)) for i in range(3)]
one = asyncio.create_task(tools.t.x(n=3))
got = [await done for done in asyncio.as_completed([tools.t.x(n=4), tools.t.x(n=5)])]
[t.result()['n'] for t in tasks], (await one)['n'], sorted(g['n'] for g in got), (await asyncio.wait_for(tools.t.x(n=6),
  5))['n']`;
  expect((await python.run(code)).value).toEqual([[0, 1, 2], 3, [4, 5], 6]);
});

test("resolves a call without await when its value is used", async () => {
  const code = `
r = tools.t.x(n=2, items=[1, 2])
total = sum(item for item in r["items"])
[r["n"] + 1, len(r), "n" in r, total, r.get("none", 0), tools.t.x.sync(k=1)["k"], tools.t.x(k=2).result()["k"],
  f"{tools.t.x(k=3)}", r == {"n": 2, "items": [1, 2]}]`;
  expect((await python.run(code)).value).toEqual([3, 2, true, 3, 0, 1, 2, "{'k': 3}", true]);
  expect((await python.run("tools.t.x(n=1)")).value).toEqual({ n: 1 });
  expect((await python.run("{'all': [tools.t.x(n=1), tools.t.x(n=2)]}")).value).toEqual({ all: [{ n: 1 }, { n: 2 }] });
});

test("makes a call even if its value is not used, and reports its failure", async () => {
  expect(await python.run("tools.notes.add(text='x')\nNone")).toMatchObject({
    end: "finished",
    calls: ["notes.add"],
    stderr: "",
  });
  const run = await python.run("tools.notes.add(text='x')\nNone", { host: failing });
  expect(run).toMatchObject({
    end: "finished",
    stderr: expect.stringContaining("tools.notes.add failed, and the code did not use its answer: the server is down"),
  });
});

test("raises a ToolError with kind and retryable for a failure", async () => {
  const code = "try:\n    await tools.a.b()\nexcept ToolError as e:\n    return [str(e), e.kind, e.retryable]";
  expect((await python.run(code, { host: failing })).value).toEqual(["the server is down", "unavailable", true]);
  expect(await python.run("await tools.a.b()", { host: failing })).toMatchObject({
    end: "error",
    error: {
      type: "ToolError",
      message: "the server is down",
      traceback: expect.stringContaining("await tools.a.b()"),
    },
  });
});

test("finds tools with search, with or without await", async () => {
  const run = await python.run(
    "[(await search('mail'))['query'], search('x', limit=3)['limit'], search('y', 10**6)['limit']]",
  );
  expect(run).toMatchObject({ value: ["mail", 3, 100], calls: ["search", "search", "search"] });
});

test("never sends calls above the limit, and ends the run unless the code continues", async () => {
  const loop = "for i in range(100):\n    await tools.t.x(n=i)";
  expect(await python.run(loop)).toMatchObject({
    end: "limit",
    error: { message: expect.stringContaining("more than 40") },
    calls: { length: 40 },
  });
  expect(
    await python.run(`try:\n${loop.replace(/^/gmu, "    ")}\nexcept ToolError as e:\n    return e.kind`),
  ).toMatchObject({ end: "finished", value: "limited" });
});

test("rejects arguments and answers above their size limits", async () => {
  const kind = "\nexcept ToolError as e:\n    return e.kind";
  expect(await python.run(`try:\n    await tools.t.x(n='x' * 60_000)${kind}`)).toMatchObject({
    value: "too_large",
    calls: [],
  });
  const host = (): HostReply => ({ ok: true, json: JSON.stringify("x".repeat(60_000)) });
  expect(await python.run(`try:\n    await tools.t.x()${kind}`, { host })).toMatchObject({
    value: "too_large",
    calls: ["t.x"],
  });
});

test("reads a thousand records in pages, which stay in the sandbox", async () => {
  const host = (_: string, args: unknown): HostReply => {
    const { page } = args as { page: number };
    return { ok: true, json: JSON.stringify(Array.from({ length: 100 }, (_, index) => ({ id: page * 100 + index }))) };
  };
  expect(
    (
      await python.run(
        "total = 0\nfor page in range(10):\n    for r in await tools.db.list(page=page):\n" +
          "        total += r['id']\ntotal",
        { host },
      )
    ).value,
  ).toBe(499_500);
});

test("reports to the host when the code waits for an answer, and how long it sleeps", async () => {
  expect((await python.run("import time\ntime.sleep(0.2)")).waits).toEqual([true, false]);
  expect((await python.run("sum(range(1000))")).waits).toEqual([]);
});

test("ends a run that waits beyond its time limit, with its output and files", async () => {
  const limits = { wallMs: 100 };
  const slept = await python.run("import time\nprint('before')\nopen('a.txt', 'w').write('1')\ntime.sleep(60)", {
    limits,
  });
  expect(slept).toMatchObject({
    end: "timeout",
    stdout: "before\n",
    files: { "a.txt": "1" },
    error: { message: expect.stringContaining("100 ms") },
  });
  expect(await python.run("await tools.t.x()", { limits, host: () => new Promise(() => {}) })).toMatchObject({
    end: "timeout",
    waits: [true, false],
  });
});

test("keeps answers with members named like a prototype as plain values", async () => {
  const host = (): HostReply => ({ ok: true, json: '{"__proto__": {"x": 1}, "constructor": 12345678901234567890}' });
  expect(
    (await python.run("r = await tools.t.x()\n[list(r), r['constructor'] == 12345678901234567890]", { host })).value,
  ).toEqual([["__proto__", "constructor"], true]);
});
