import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalMCPBinding } from "../../packages/toolyard/src/bindings.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";

const logger = SILENT_LOGGER;

let home: string;
let hub: LibraryHub;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "toolyard-interpreter-"));
  hub = await createHub({
    logger,
    variables: { TOOLYARD_HOME: home },
    settings: { default_tools: { enable: ["python_interpreter"] }, sandbox: { max_timeout: "60s", output: "64KiB" } },
    registerTools: (tools) => tools.registerTool("records.page", () => 1, { type: "object" }, "Records."),
  });
}, 60_000);
afterAll(async () => {
  await hub?.close();
  rmSync(home, { recursive: true, force: true });
});

/** Runs the code and returns the structured content of the result, for any outcome. */
async function run(code: string, more: JsonObject = {}): Promise<JsonObject> {
  const { result } = await hub.call("python_interpreter", { code, ...more });
  return result?.["structuredContent"] as JsonObject;
}

const success = (returned: unknown, stdout = ""): JsonObject => ({
  stdout,
  stderr: "",
  returned_value: returned,
  execution_status: "success",
});

describe("common first programs", () => {
  test.each<[string, string, JsonObject]>([
    ["print", "print('Hello', 'world', sep=', ')\nprint(1, end='')", success(null, "Hello, world\n1")],
    ["arithmetic", "2 ** 64 // 3 - 0.5 * 4", success(6148914691236516864)],
    [
      "an integer that JSON's numbers would round",
      "import math\n[math.factorial(25), -(2 ** 53), 2 ** 53 - 1, 2 ** 70 + 0.0]",
      success([15_511_210_043_330_985_984_000_000n, -9_007_199_254_740_992n, 9007199254740991, 2 ** 70]),
    ],
    ["an expression at the end", "x = 20\ny = 22\nx + y", success(42)],
    ["json", "import json\njson.loads('{\"a\": [1, null]}')", success({ a: [1, null] })],
    [
      "re",
      "import re\nre.findall(r'(\\w+)@(\\w+)', 'ada@home bob@work')",
      success([
        ["ada", "home"],
        ["bob", "work"],
      ]),
    ],
    [
      "datetime",
      "from datetime import date, timedelta\n(date(2024, 2, 28) + timedelta(days=2)).isoformat()",
      success("2024-03-01"),
    ],
    [
      "statistics",
      "import statistics as s\n[s.mean([1, 2, 6]), s.median([1, 9, 5]), round(s.stdev([2, 4, 4, 6]), 3)]",
      success([3, 5, 1.633]),
    ],
    [
      "csv",
      "import csv, io\n[dict(row) for row in csv.DictReader(io.StringIO('name,age\\nAda,36'))]",
      success([{ name: "Ada", age: "36" }]),
    ],
    [
      "dataclasses",
      "from dataclasses import dataclass, asdict\n@dataclass\nclass Point:\n    x: int\n    y: int = 2\n" +
        "asdict(Point(1))",
      success({ x: 1, y: 2 }),
    ],
    [
      "classes",
      "class Dog:\n    def __init__(self, name):\n        self.name = name\n    def __str__(self):\n" +
        "        return f'{self.name} barks'\nprint(Dog('Rex'))",
      success(null, "Rex barks\n"),
    ],
    [
      "generators",
      "def squares(n):\n    for i in range(n):\n        yield i * i\nlist(squares(5))",
      success([0, 1, 4, 9, 16]),
    ],
    [
      "exceptions that are caught",
      "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    print(error)",
      success(null, "division by zero\n"),
    ],
    [
      "a function with a main",
      "def main():\n    print('in main')\nif __name__ == '__main__':\n    main()",
      success(null, "in main\n"),
    ],
  ])("L38: %s", async (_what, code, expected) => {
    expect(await run(code)).toEqual(expected);
  });

  test("C24: all common first programs run in the restricted profile", async () => {
    expect(
      await run(readFileSync(new URL("../fixtures/sandbox/first-things.py", import.meta.url), "utf8")),
    ).toMatchObject({ returned_value: "all of it", execution_status: "success" });
  });

  test("L38: prints a value without a JSON form as Python does", async () => {
    expect(
      await run(
        "from decimal import Decimal\nimport datetime\n[{1, 2}, Decimal('1.5'), datetime.date(2024, 1, 2), object]",
      ),
    ).toMatchObject({ execution_status: "success" });
  });

  test("L38: each call starts with a new state", async () => {
    await run("kept = 1");
    expect(await run("kept")).toMatchObject({
      execution_status: "error",
      stderr: expect.stringContaining("NameError") as string,
    });
  });
});

describe("failures", () => {
  test("L38: a failure is a readable traceback after the program's output, and an error of the tool", async () => {
    const code =
      "import sys\nprint('before')\nprint('careful', file=sys.stderr)\ndef half(n):\n    return n / 0\nhalf(3)";
    const outcome = await hub.call("python_interpreter", { code });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "tool_error",
      message: "ZeroDivisionError: division by zero",
      result: { isError: true },
    });
    const { stdout, stderr, ...rest } = outcome.result!["structuredContent"] as { stdout: string; stderr: string };
    expect(rest).toEqual({ returned_value: null, execution_status: "error" });
    expect(stdout).toBe("before\n");
    expect(stderr).toMatch(
      /^careful\nTraceback \(most recent call last\):\n[^]*line 6[^]*half\(3\)\n[^]*line 5, in half\n[^]*ZeroDivisionError: division by zero$/,
    );
    expect(stderr).not.toMatch(/site\/|yard/);
  });

  test.each([
    ["a mistake in the writing", "print('a'\nx = 1", /SyntaxError: .* never closed$/],
    ["numpy", "import numpy as np", /numpy.* These can: .*statistics/s],
    ["leaving with a code", "import sys\nsys.exit(3)", /3/],
    ["questions at the terminal", "name = input('Name? ')", /./],
  ])("L38: reports %s with its reason", async (_what, code, words) => {
    const { execution_status: status, stderr } = await run(code);
    expect([status, stderr]).toEqual([status, expect.stringMatching(words)]);
    expect(status).toBe("error");
  });

  test("S9: drops output beyond the limit and reports it", async () => {
    const { stdout, stderr, execution_status: status } = await run("for _ in range(20000): print('x' * 50)");
    expect(Buffer.byteLength(String(stdout))).toBeLessThanOrEqual(64 * 1024);
    expect(String(stderr)).toContain("truncated");
    expect(status).toBe("success");
  });

  test.each([
    {},
    { code: 5 },
    { code: "1", timeout_seconds: 0 },
    { code: "1", timeout_seconds: -1 },
    { code: "1", timeout_seconds: "soon" },
  ])("L38: refuses arguments such as %j", async (args) => {
    expect(await hub.call("python_interpreter", args)).toMatchObject({ ok: false, kind: "invalid_params" });
  });
});

describe("time limit", () => {
  test.each([
    ["a loop", "while True: pass"],
    ["a sleep", "import time\ntime.sleep(60)"],
    ["one long operation", "9 ** 9 ** 9"],
    [
      "a loop that catches everything",
      "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ],
  ])("L39: ends %s at the time limit", async (_what, code) => {
    const begun = performance.now();
    expect(await run(`print('begun')\n${code}`, { timeout_seconds: 0.5 })).toMatchObject({
      stdout: "begun\n",
      returned_value: null,
      execution_status: "timeout",
      stderr: expect.stringMatching(/./) as string,
    });
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test("L39: a program that ends in time is not reported as a timeout", async () => {
    expect(await run("import time\ntime.sleep(0.2)\n'slept'", { timeout_seconds: 20 })).toMatchObject({
      returned_value: "slept",
      execution_status: "success",
    });
  });

  test("C20: reports a program that exceeds its time as a timeout, and does not repeat it", async () => {
    const outcome = await hub.call("python_interpreter", { code: "while True: pass", timeout_seconds: 0.3 });
    expect(outcome).toMatchObject({
      ok: false,
      kind: "timeout",
      attempts: 1,
      result: { structuredContent: { execution_status: "timeout" } },
    });
  });

  test("C20: a caller's shorter deadline ends the program, as a timeout of the call", async () => {
    expect(await hub.call("python_interpreter", { code: "while True: pass" }, { timeoutMs: 300 })).toMatchObject({
      ok: false,
      kind: "timeout",
    });
  });

  test("C20: a caller that disconnects ends the program", async () => {
    const controller = new AbortController();
    const call = hub.call("python_interpreter", { code: "while True: pass" }, { signal: controller.signal });
    controller.abort();
    expect(await call).toMatchObject({ ok: false, kind: "cancelled" });
  });
});

describe("the restricted environment", () => {
  test.each([
    ["a file", "open('/etc/passwd').read()"],
    ["the system", "import os\nos.environ"],
    ["the network", "import socket\nsocket.create_connection(('127.0.0.1', 80))"],
    ["inner attributes", "().__class__.__base__.__subclasses__()"],
    ["the interpreter's own functions", "__builtins__"],
    ["tools", "await tools.records.page()"],
    ["search", "await search('records')"],
  ])("L40: code cannot access %s", async (_what, code) => {
    expect(await run(code)).toMatchObject({
      returned_value: null,
      execution_status: "error",
      stderr: expect.stringMatching(/Error/) as string,
    });
  });

  test("S9: ends a program at the memory limit, and runs the next one", async () => {
    expect(await run("rows = []\nwhile True: rows.append('x' * 20000000)")).toMatchObject({
      execution_status: "error",
      stderr: expect.stringContaining("MemoryError") as string,
    });
    expect(await run("1 + 1")).toEqual(success(2));
  });

  test("C24: the interpreter works if execute_code is disabled, and cannot call tools", async () => {
    const other = await createHub({
      logger,
      variables: { TOOLYARD_HOME: home },
      settings: { builtin: { execute_code: false }, default_tools: { enable: ["python_interpreter"] } },
    });
    try {
      expect((await other.list()).map((tool) => tool["name"])).toEqual(["python_interpreter"]);
      expect(await other.call("python_interpreter", { code: "1 + 1" })).toMatchObject({
        ok: true,
        result: { structuredContent: success(2) },
      });
    } finally {
      await other.close();
    }
  });
});

test("L31: a local binding without a folder offers exactly four tools, and its interpreter ends with it", async () => {
  const binding = new LocalMCPBinding({ logger, sandbox: { memory: "128MiB" } });
  try {
    expect((await binding.discoverTools()).map(({ name }) => name).toSorted()).toEqual([
      "file_writer",
      "generate_image_from_prompt",
      "internet_search",
      "python_interpreter",
    ]);
    expect(await binding.executeTool("python_interpreter", { code: "print('hi')\n6 * 7" })).toEqual({
      output: success(42, "hi\n"),
      status_code: 200,
    });
    expect(await binding.executeTool("python_interpreter", { code: "boom" })).toMatchObject({
      error: "Tool execution failed: NameError: name 'boom' is not defined",
      output: { execution_status: "error" },
      status_code: 500,
    });
  } finally {
    await binding.close();
  }
  expect(await binding.executeTool("python_interpreter", { code: "1" })).toMatchObject({ status_code: 503 });
});
