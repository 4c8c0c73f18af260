import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { Outcome } from "../../packages/toolyard/src/core/calls/outcome.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub } from "../../packages/toolyard/src/hub/create-hub.ts";
import { createIdentity } from "./identity.ts";

type TestHub = Awaited<ReturnType<typeof createHub>>;

let home: string;
let hub: TestHub;
let running = 0;
let most = 0;

/** Signals of calls that are never answered. */
const hanging: AbortSignal[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "toolyard-code-"));
  hub = await createHub({
    variables: { TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
    registerTools: (tools) => {
      tools.registerTool(
        "records.page",
        ({ page }) => Array.from({ length: 100 }, (_, at) => ({ id: Number(page) * 100 + at, amount: at % 7 })),
        { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
        "One page of the records.",
      );
      tools.registerTool(
        "records.hang",
        (_args, { signal }) => (hanging.push(signal), new Promise(() => {})),
        { type: "object" },
        "Never answers.",
      );
      tools.registerTool(
        "records.fail",
        () => Promise.reject(new Error("The record is locked.")),
        { type: "object" },
        "Fails.",
      );
      tools.registerTool(
        "records.slow",
        async (_args, { signal }) => {
          running += 1;
          most = Math.max(most, running);
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, 150);
            signal.addEventListener("abort", () => (clearTimeout(timer), resolve()));
          });
          running -= 1;
          return most;
        },
        { type: "object" },
        "Takes a while.",
      );
    },
  });
}, 60_000);
afterAll(async () => {
  await hub?.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(
  language: string,
  code: string,
  more: JsonObject = {},
  through: Pick<TestHub, "call"> = hub,
): Promise<JsonObject> {
  return valueOf(await through.call("execute_code", { language, code, ...more }));
}

function valueOf(outcome: Outcome): JsonObject {
  const result = outcome.ok ? outcome.result : outcome.result;
  if (!result) throw new Error(outcome.ok ? "no result" : `${outcome.kind}: ${outcome.message}`);
  return result["structuredContent"] as JsonObject;
}

test("T1: execute_code is offered by default, native and without keywords", async () => {
  const listed = (await hub.list()).map((tool) => tool["name"]);
  expect(listed).toContain("execute_code");
  expect((await hub.list({ mode: "discovery" })).map((tool) => tool["name"])).not.toContain("execute_code");
});

test("T1: execute_code can be disabled", async () => {
  const without = await createHub({
    settings: { builtin: { execute_code: false } },
    variables: { TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
  });
  try {
    expect((await without.list()).map((tool) => tool["name"])).not.toContain("execute_code");
    expect(await without.call("execute_code", { language: "python", code: "1" })).toMatchObject({
      ok: false,
      kind: "unknown_tool",
    });
  } finally {
    await without.close();
  }
});

test("S9: execute_code is offered to the network only with a token", async () => {
  const names = async (server: object): Promise<unknown[]> => {
    const open = await createHub({ settings: { server }, variables: { TOOLYARD_HOME: home }, logger: SILENT_LOGGER });
    const listed = (await open.list()).map((tool) => tool["name"]);
    await open.close();
    return listed;
  };
  expect(await names({ host: "0.0.0.0", insecure: true })).not.toContain("execute_code");
  expect(await names({ host: "0.0.0.0", token: "a-long-enough-token" })).toContain("execute_code");
});

test("S9: a hub does not start if any caller could call execute_code, and names the remedy", async () => {
  const settings = { server: { host: "0.0.0.0", insecure: true }, builtin: { execute_code: true } };
  await expect(createHub({ settings, variables: { TOOLYARD_HOME: home }, logger: SILENT_LOGGER })).rejects.toThrow(
    /Set a token/,
  );
});

describe.each([
  [
    "javascript",
    "const rows = []; for (let page = 0; page < 10; page += 1) rows.push(...await tools.records.page({ page " +
      "}));\nreturn { rows: rows.length, sum: rows.reduce((sum, row) => sum + row.amount, 0) };",
  ],
  [
    "typescript",
    "enum Size { Ten = 10 }\ninterface Row { id: number; amount: number }\n" +
      "const rows: Row[] = (await Promise.all([...Array(Size.Ten).keys()].map((page) => tools.records.page({ " +
      "page })))).flat();\n({ rows: rows.length, sum: rows.reduce((sum: number, row) => sum + row.amount, 0) })",
  ],
  [
    "python",
    "import asyncio\npages = await asyncio.gather(*[tools.records.page(page=page) for page in range(10)])\n" +
      "rows = [row for page in pages for row in page]\n{'rows': len(rows), 'sum': " +
      "sum(row['amount'] for row in rows)}",
  ],
])("%s", (language, loop) => {
  const isPython = language === "python";

  test("processes a thousand records of tools, and returns only the code's result", async () => {
    const answer = await run(language, loop);
    expect(answer).toMatchObject({
      ok: true,
      result: { rows: 1000, sum: 10 * 295 },
      error: null,
      truncated: false,
      engine: "embedded",
    });
    expect(answer["tool_calls"]).toMatchObject({ made: 10, failed: 0, failures: [], slowest: { length: 3 } });
  });

  test("counts many calls, with failures and reasons, and names the three slowest", async () => {
    const code = isPython
      ? "import asyncio\nawait asyncio.gather(*[tools.records.page(page=page) for page in range(118)])\n" +
        "for _ in range(2):\n    try:\n        await tools.records.fail()\n    except ToolError:\n        pass\n'read'"
      : "await Promise.all([...Array(118).keys()].map((page) => tools.records.page({ page })));\n" +
        "for (let i = 0; i < 2; i += 1) { try { await tools.records.fail() } catch {} }\n'read'";
    const answer = await run(language, code);
    expect(answer).toMatchObject({
      result: "read",
      tool_calls: {
        made: 120,
        failed: 2,
        failures: [{ name: "records.fail", kind: "tool_error", count: 2 }],
        slowest: { length: 3 },
      },
    });
    expect(JSON.stringify(answer).length).toBeLessThan(1000);
  });

  test("refuses arguments above `sandbox.tool_bytes`, and names the option", async () => {
    const code = isPython
      ? "try:\n    await tools.records.page(page=0, more='x' * 9_000_000)\nexcept Exception as error:\n" +
        "    said = str(error)\nsaid"
      : "let said; try { await tools.records.page({ page: 0, more: 'x'.repeat(9_000_000) }) } " +
        "catch (error) { said = error.message }\nsaid";
    expect((await run(language, code))["result"]).toContain("sandbox.tool_bytes");
  });

  test("makes concurrent calls, up to the limit", async () => {
    most = 0;
    const code = isPython
      ? "import asyncio\nawait asyncio.gather(*[tools.records.slow() for _ in range(12)])\nNone"
      : "await Promise.all([...Array(12)].map(() => tools.records.slow()))\nnull";
    expect(await run(language, code)).toMatchObject({ ok: true });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  test("a failing tool throws an exception with its outcome code, which the code can catch", async () => {
    const code = isPython
      ? "try:\n    await tools.records.fail()\nexcept ToolError as error:\n    found = [error.kind, str(error)]\nfound"
      : "let found;\ntry { await tools.records.fail() } catch (error) { found = [error.kind, error.message] }\nfound";
    expect((await run(language, code))["result"]).toEqual([
      "tool_error",
      expect.stringContaining("The record is locked."),
    ]);
  });

  test("reports an unknown tool and wrong arguments with their own error codes", async () => {
    const code = isPython
      ? "kinds = []\nfor call in (lambda: tools.records.nothing(), lambda: tools.records.page(page='x')):\n" +
        "    try:\n        await call()\n    except ToolError as error:\n        " +
        "kinds.append(error.kind)\nkinds"
      : "const kinds = [];\nfor (const call of [() => tools.records.nothing(), () => tools.records.page({ page: " +
        "'x' })]) { try { await call() } catch (error) { kinds.push(error.kind) } }\nkinds";
    expect((await run(language, code))["result"]).toEqual(["unknown_tool", "invalid_params"]);
  });

  test("search returns a tool with the signature for this language", async () => {
    const [hit] = (
      await run(language, isPython ? "await search('page of records')" : "await search('page of records')")
    )["result"] as JsonObject[];
    expect(hit).toMatchObject({
      signature: isPython
        ? "tools.records.page(page: int) -> Any"
        : "tools.records.page(args: { page: number }): Promise<unknown>",
      description: "One page of the records.",
    });
  });

  test("passes inputs and files in, and returns files that the code wrote", async () => {
    const code = isPython
      ? "text = open('in.csv').read()\nopen('out/result.csv', 'w').write(text.upper())\ninputs['n'] + 1".replace(
          "open('out",
          "import os\nos.makedirs('out', exist_ok=True)\nopen('out",
        )
      : "const text = files.read('in.csv');\nfiles.write('out/result.csv', text.toUpperCase());\ninputs.n + 1";
    const answer = await run(language, code, { inputs: { n: 41 }, files: { "in.csv": "a,b" } });
    expect(answer).toMatchObject({
      ok: true,
      result: 42,
      artifacts: [{ path: "out/result.csv", size: 3, mime_type: "text/csv", text: "A,B" }],
    });
  });

  test("reports the line of failing code", async () => {
    const outcome = await hub.call("execute_code", {
      language,
      code: isPython ? "x = 1\nraise ValueError('broken')" : "const x = 1;\nthrow new RangeError('broken')",
    });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      result: {
        isError: true,
        structuredContent: { ok: false, error: { type: isPython ? "ValueError" : "RangeError", message: "broken" } },
      },
    });
    expect((valueOf(outcome)["error"] as JsonObject)["traceback"]).toMatch(/2/);
  });

  test("a session keeps variables for its caller; a run without a session starts with none", async () => {
    const session = `s-${language}`;
    await run(language, isPython ? "kept = 7" : "kept = 7", { session });
    expect(await run(language, "kept + 1", { session })).toMatchObject({ ok: true, result: 8, session: "kept" });
    expect(await run(language, "kept + 1")).toMatchObject({
      ok: false,
      error: { type: isPython ? "NameError" : "ReferenceError" },
    });
  });

  test("C20: ends endless code in time, once, and reports a timeout with all its calls", async () => {
    const outcome = await hub.call("execute_code", {
      language,
      code: isPython ? "print('here')\nwhile True: pass" : "console.log('here');\nfor (;;) {}",
      timeout_ms: 3_000, // Ten times the duration of start and output.
    });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "timeout",
      retryable: false,
      attempts: 1,
      result: { isError: true, structuredContent: { ok: false, result: null } },
    });
    expect(valueOf(outcome)).toMatchObject({ stdout: "here\n" });
  });
});

test("two callers never share a session, also with the same session name", async () => {
  const other = createIdentity(hub, "somebody else");
  await run("javascript", "secret = 'mine'", { session: "shared" });
  expect(await run("javascript", "typeof secret", { session: "shared" }, other)).toMatchObject({
    result: "undefined",
    session: "new",
  });
  expect(await run("javascript", "secret", { session: "shared" })).toMatchObject({ result: "mine" });
});

test("gives the code its caller's rights, in calls and in search", async () => {
  const guest = createIdentity(hub, "guest", { deny: ["records*"] });
  const code =
    "let kind; try { await tools.records.page({ page: 1 }) } catch (error) { kind = error.kind }\n" +
    "({ kind, found: (await search('records page')).map((hit) => hit.name) })";
  expect((await run("javascript", code, {}, guest))["result"]).toEqual({ kind: "denied", found: [] });
});

test("code cannot call execute_code", async () => {
  const code =
    "let kind; try { await tools.execute_code({ language: 'javascript', code: '1' }) } catch (error) { kind = " +
    "error.kind }\nkind";
  expect((await run("javascript", code))["result"]).toBe("denied");
});

test.each([
  ["javascript", "await tools.records.hang()"],
  ["python", "await tools.records.hang()"],
])("code in %s that exceeds its time also ends the tools that it called", async (language, code) => {
  const before = hanging.length;
  expect(await run(language, code, { timeout_ms: 500 })).toMatchObject({ error: { type: "Timeout" } });
  await expect.poll(() => hanging.slice(before).map(({ aborted }) => aborted)).toEqual([true]);
});

test("a caller that disconnects ends the code and the tools that it called", async () => {
  const controller = new AbortController();
  const call = hub.call(
    "execute_code",
    { language: "javascript", code: "await tools.records.slow(); await new Promise(() => {})" },
    { signal: controller.signal, onNotice: () => {} },
  );
  setTimeout(() => controller.abort(), 50);
  expect(await call).toMatchObject({ ok: false, kind: "cancelled" });
});

test.each([
  [{ language: "ruby", code: "1" }, /python, javascript or typescript/],
  [{ language: "python", code: "1", files: { "../x": "y" } }, /not a valid path/],
  [{ language: "python", code: "1", files: { x: 5 } }, /text or/],
])("refuses %j and reports the reason", async (args, reason) => {
  const outcome = await hub.call("execute_code", args);
  expect(outcome.ok).toBe(false);
  expect(outcome.ok ? "" : outcome.message).toMatch(reason);
});

test("accepts language names as models write them", async () => {
  expect(await run("JS", "1 + 1")).toMatchObject({ result: 2 });
  expect(await run("py", "1 + 1")).toMatchObject({ result: 2 });
});

test("returns an image that the code wrote as image content", async () => {
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
  const outcome = await hub.call("execute_code", {
    language: "python",
    code: `import base64\nopen('dot.png', 'wb').write(base64.b64decode('${png}'))\nNone`,
  });
  expect(outcome).toMatchObject({
    ok: true,
    result: { content: [{ type: "text" }, { type: "image", mimeType: "image/png", data: png }] },
  });
});

test.each([
  [
    "javascript",
    "await fetch('https://example.com')",
    "ReferenceError",
    "There is no network here. Call a tool instead",
  ],
  ["typescript", "const home: string = process.env.HOME;", "ReferenceError", "This is no Node.js"],
  ["python", "import requests", "ModuleNotFoundError", "There is no network here. Call a tool instead"],
  [
    "python",
    "from concurrent.futures import ThreadPoolExecutor",
    "ModuleNotFoundError",
    "There are no threads here. `await asyncio.gather(...)`",
  ],
])(
  "names the alternative for a feature that models expect and that is missing (%s: %s)",
  async (language, code, type, words) => {
    expect(await run(language, code)).toMatchObject({
      ok: false,
      error: { type, message: expect.stringContaining(words) as string },
    });
  },
);

test("runs a program without its Markdown fence", async () => {
  expect(await run("python", "```python\n20 + 22\n```")).toMatchObject({ ok: true, result: 42 });
});

test("a traceback contains frames of the code only", async () => {
  const { error } = await run("python", "await tools.records.fail()");
  expect((error as JsonObject)["traceback"]).toMatch(/\nToolError: [^\n]*The record is locked\.$/);
});
