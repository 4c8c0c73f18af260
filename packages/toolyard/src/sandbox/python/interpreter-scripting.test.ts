import { afterAll, describe, expect, test } from "vitest";
import { PythonWorker } from "../../../../../test/support/python-worker.ts";

const python = new PythonWorker();
afterAll(() => python[Symbol.asyncDispose]());

describe("common code", () => {
  test.each([
    ["the last expression is the result", "a = 20\na + 22", 42],
    ["a return at the top level is the result", "for i in range(9):\n    if i == 4:\n        return i", 4],
    [
      "a return inside of try is no error",
      "try:\n    return 'kept'\nexcept:\n    return 'lost'\nfinally:\n    x = 1",
      "kept",
    ],
    ["functions keep their own returns", "def f():\n    return 1\nf() + 1", 2],
    ["code that awaits at its top level", "import asyncio\nawait asyncio.sleep(0.001, 5)", 5],
    ["asyncio.run, and what it runs", "import asyncio\nasync def main():\n    return 7\nasyncio.run(main())", 7],
    [
      "asyncio.run inside of code that awaits",
      "import asyncio\nasync def a():\n    return 1\nawait asyncio.sleep(0)\nasyncio.run(a()) + await a()",
      2,
    ],
    ["a coroutine that nobody awaited", "async def main():\n    return 'done'\nmain()", "done"],
    ["the block of a script", "if __name__ == '__main__':\n    out = 3\nout", 3],
    ["inputs", "inputs['n'] * 2", 42],
    [
      "a time limit on something",
      "import asyncio\ntry:\n    await asyncio.wait_for(asyncio.sleep(5), 0.01)\nexcept TimeoutError:\n" +
        "    return 'late'",
      "late",
    ],
    ["a function in another thread, which there is none of", "import asyncio\nawait asyncio.to_thread(len, 'abc')", 3],
    [
      "sqlite, zlib and hashes",
      "import sqlite3, zlib, hashlib\ndb = sqlite3.connect(':memory:')\ndb.execute('select 1+1').fetchone()[0]",
      2,
    ],
    ["exit without a code", "print('x')\nexit()", undefined],
    ["nothing", "", undefined],
    ["None", "None", undefined],
  ])("%s", async (_, code, value) => {
    expect(await python.run(code, { inputs: { n: 21 } })).toMatchObject({ end: "finished", value });
  });

  test("keeps variables in a session, and separates the output of runs", async () => {
    await python.run("counter = 1\nprint('first')");
    expect(await python.run("counter += 1\nprint('second')\ncounter")).toMatchObject({ value: 2, stdout: "second\n" });
  });

  test("returns output of stdout and stderr in order, each in its stream", async () => {
    const run = await python.run("import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('ü', end='')");
    expect(run).toMatchObject({ stdout: "a\nü", stderr: "b\n", truncated: false });
  });
});

test("uses the time zones of Node, with their changes", async () => {
  const code = `
from zoneinfo import ZoneInfo
from datetime import datetime, timezone
berlin = ZoneInfo("Europe/Berlin")
change = datetime(2024, 3, 31, 0, 59, 59, tzinfo=timezone.utc)
[change.astimezone(berlin).isoformat(), datetime(2024, 3, 31, 1, tzinfo=timezone.utc).astimezone(berlin).isoformat(),
  str(datetime(2050, 7, 1, tzinfo=berlin).dst()),
 datetime(2024, 1, 1, tzinfo=ZoneInfo("Asia/Kolkata")).tzname(), ZoneInfo("UTC").utcoffset(change).total_seconds()]`;
  for (const profile of ["scripting", "restricted"] as const) {
    expect(await python.run(code, { profile })).toMatchObject({
      value: ["2024-03-31T01:59:59+01:00", "2024-03-31T03:00:00+02:00", "1:00:00", "+0530", 0],
    });
    expect(await python.run("import zoneinfo\nzoneinfo.ZoneInfo('Mars/Base')", { profile })).toMatchObject({
      error: {
        type: "ZoneInfoNotFoundError",
        message: expect.stringContaining("No time zone found with key Mars/Base. Names are"),
      },
    });
  }
});

describe("results as JSON", () => {
  test.each([
    [
      "dates, decimals, enum members",
      "import datetime, decimal, enum\nclass E(enum.Enum):\n    A = 'a'\n" +
        "[datetime.date(2024, 2, 3), datetime.datetime(2024, 2, 3, 4), decimal.Decimal('1.10'), E.A, " +
        "datetime.timedelta(hours=1)]",
      ["2024-02-03", "2024-02-03T04:00:00", "1.10", "a", "1:00:00"],
    ],
    [
      "dataclasses and named tuples",
      "import dataclasses, collections\n@dataclasses.dataclass\nclass P:\n    x: int\n    y: list\n" +
        "[P(1, [P(2, [])]), collections.namedtuple('N', 'a b')(1, 2)]",
      [
        { x: 1, y: [{ x: 2, y: [] }] },
        { a: 1, b: 2 },
      ],
    ],
    [
      "sets, tuples, ranges, generators",
      "[{3, 1, 2}, (1, 2), range(3), (i for i in 'ab'), {1: 2}.items()]",
      [[1, 2, 3], [1, 2], [0, 1, 2], ["a", "b"], [[1, 2]]],
    ],
    [
      "keys that are no text",
      "{1: 'a', None: 'b', True: 'c', (1, 2): 'd', 1.5: 'e'}",
      { 1: "c", null: "b", "(1, 2)": "d", 1.5: "e" },
    ],
    ["numbers that JSON does not have", "[float('nan'), float('inf'), 1e400]", [null, null, null]],
    ["bytes as base64", "b'\\x00\\xff'", "AP8="],
    ["text with half a character", "'a\\ud800'", "a?"],
    ["the same list twice is no cycle", "a = [1]\n[a, a]", [[1], [1]]],
    [
      "counters and other mappings",
      "import collections\n[collections.Counter('aab'), collections.ChainMap({'x': 1})]",
      [{ a: 2, b: 1 }, { x: 1 }],
    ],
    ["an exception as a value", "ValueError('no')", "ValueError: no"],
  ])("%s", async (_, code, value) => {
    expect(await python.run(code)).toMatchObject({ end: "finished", value });
  });

  test("returns the repr of a value that has no JSON", async () => {
    expect(
      (await python.run("class A:\n    def __repr__(self):\n        return '<an A>'\n[A(), len, 2j]")).value,
    ).toEqual(["<an A>", "<built-in function len>", "2j"]);
    expect((await python.run("class A:\n    def __repr__(self):\n        raise OSError\nA()")).value).toBe(
      "<A: its repr() failed with OSError>",
    );
  });

  test("reports a result that contains itself as a clear error", async () => {
    const run = await python.run("a = {'list': []}\na['list'].append(a)\na");
    expect(run).toMatchObject({
      end: "error",
      error: { type: "ValueError", message: expect.stringContaining("contains itself at ['list'][0]") },
    });
  });

  test("ends the run at its limit if the result is too large or endless", async () => {
    expect(await python.run("'x' * 300_000")).toMatchObject({
      end: "limit",
      value: undefined,
      error: { type: "ResultTooLarge" },
    });
    expect(await python.run("import itertools\n(i for i in itertools.count())")).toMatchObject({ end: "limit" });
    expect(await python.run("a = []\nfor _ in range(300): a = [a]\na")).toMatchObject({
      end: "error",
      error: { message: expect.stringContaining("nested deeper") },
    });
  });
});

describe("errors", () => {
  test("shows the lines of the code in a traceback, and nothing of the host", async () => {
    const { error } = await python.run("def f(x):\n    return 1 / x\n\nf(0)");
    expect(error).toMatchObject({ type: "ZeroDivisionError", message: "division by zero" });
    expect(error!.traceback).toMatch(/line 4, in <module>\n {4}f\(0\)\n.*line 2, in f\n {4}return 1 \/ x/su);
    expect(error!.traceback).not.toMatch(/yard|site|lib\/python/u);
  });

  test("reports causes of exceptions, including groups", async () => {
    const { error } = await python.run("try:\n    int('x')\nexcept ValueError as e:\n    raise KeyError('k') from e");
    expect(error!.traceback).toMatch(/invalid literal.*direct cause.*KeyError: 'k'/su);
    const group = await python.run("raise ExceptionGroup('both', [ValueError('a'), TypeError('b')])");
    expect(group.error!.traceback).toMatch(/ValueError: a.*TypeError: b/su);
  });

  test("reports the place of a syntax error", async () => {
    const { error } = await python.run("x = 1\nif x\n    pass");
    expect(error).toMatchObject({ type: "SyntaxError", message: "expected ':' (line 2)" });
    expect(error!.traceback).toContain("if x\n");
  });

  test.each([
    [
      "a package that is not there",
      "import numpy as np",
      "ModuleNotFoundError",
      "only Python's standard library. Use statistics",
    ],
    ["a package for the network", "import requests", "ModuleNotFoundError", "There is no network here. Call a tool"],
    ...["lzma", "venv", "curses", "readline", "turtle", "curses.ascii"].map((name) => [
      `the module ${name}, which this build does not have,`,
      `import ${name}`,
      "ModuleNotFoundError",
      `'${name.split(".")[0]}'. It belongs to Python's standard library, and is left out of this build.`,
    ]),
    ...[
      "import urllib.request\nurllib.request.urlopen('http://example.com')",
      "import socket\nsocket.getaddrinfo('example.com', 80)",
      "import socket\nsocket.gethostbyname('example.com')",
      "import http.client\nhttp.client.HTTPConnection('example.com').request('GET', '/')",
      "import smtplib\nsmtplib.SMTP('example.com')",
      "from socket import create_connection\ncreate_connection(('example.com', 80))",
    ].map((code) => [
      `a connection with ${code.split(/[ \n]/)[1]!}`,
      code,
      expect.stringMatching(/Error$/),
      "There is no network here. Call a tool",
    ]),
    ["a question to nobody", "input('name? ')", "EOFError", "Pass values as `inputs`"],
    ["an exit code", "import sys; sys.exit(3)", "SystemExit", "exit code 3"],
    ["an exit with words", "raise SystemExit('gave up')", "SystemExit", "gave up"],
    ["endless recursion", "def f():\n    return f()\nf()", "RecursionError", "maximum recursion depth"],
    ["nested JSON", "import json\njson.loads('[' * 100_000)", "RecursionError", "recursion"],
    [
      "waiting for what never comes",
      "import asyncio\nawait asyncio.Event().wait()",
      "RuntimeError",
      "can never happen",
    ],
    ["a thread", "import threading\nthreading.Thread(target=print).start()", "RuntimeError", "thread"],
  ])("%s is an error with advice", async (_, code, type, message) => {
    expect(await python.run(code)).toMatchObject({
      end: "error",
      error: { type, message: expect.stringContaining(message) },
    });
  });

  test("reports exhausted memory, and the interpreter continues", async () => {
    expect(await python.run("x = 'a' * 10**9")).toMatchObject({ end: "memory", error: { type: "MemoryError" } });
    expect(await python.run("kept = []\nwhile True: kept.append('x' * 1_000_000)")).toMatchObject({ end: "memory" });
    expect(await python.run("del kept\n1 + 1")).toMatchObject({ end: "finished", value: 2 });
  });

  test("reports an exit of the interpreter that the code caused", async () => {
    expect(await python.run("import os\nos._exit(7)")).toMatchObject({
      end: "error",
      error: { type: "SystemExit", message: expect.stringContaining("exit code 7") },
    });
    expect(await python.run("import os\nos.abort()")).toMatchObject({
      end: "crashed",
      error: { type: "InterpreterError" },
    });
  });

  test("reports a stack overflow", async () => {
    const run = await python.run(
      "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __getattr__(self, n):\n" +
        "        return getattr(self, n)\nA().x",
    );
    expect(["error", "crashed", "memory"]).toContain(run.end);
    expect(run.error!.message).not.toBe("");
  });
});
