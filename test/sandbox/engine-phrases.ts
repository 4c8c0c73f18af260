/** The same operations in one language. */
export interface Phrases {
  readonly values: readonly (readonly [code: string, value: unknown])[];
  readonly prints: string;
  readonly floods: string;
  readonly errors: readonly (readonly [code: string, type: string, line: string])[];
  readonly calls: string;
  readonly callsTool: string;
  readonly endlessCalls: string;
  readonly files: string;
  readonly writesTooMuch: string;
  readonly largeResult: string;
  readonly loops: string;
  readonly hangs: string;
  readonly sleeps: string;
  readonly bombs: readonly (readonly [code: string])[];
  readonly recurses: string;
  readonly beginsAndLoops: string;
  readonly leaves: string;
  readonly finds: string;
  readonly throws: string;
  /** Returns `inputs.ids` unchanged, through a tool, through a file, each plus 1, and the name of a type. */
  readonly integers: string;
}

export const PYTHON: Phrases = {
  values: [
    ["inputs['a'] + 1", 2],
    ["x = 1\nx", 1],
    ["for i in range(3):\n    pass", undefined],
    ["return [1, {'a': (1, 2)}]", [1, { a: [1, 2] }]],
    ["import asyncio\nawait asyncio.sleep(0)\n'awaited'", "awaited"],
    ["async def f():\n    return await tools.a(x=1)\nf()", { path: "a", args: { x: 1 } }],
    ["tools.a.b(x=2)['args']", { x: 2 }],
    ["import json, re, math, statistics, csv, dataclasses, datetime\nstatistics.mean(sorted(inputs['list']))", 2],
    [
      "import zoneinfo, datetime\nstr(datetime.datetime(2024, 7, 1, " +
        "tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())",
      "2:00:00",
    ],
    ["float('nan')", null],
    ["{'ü': '€😀'}", { ü: "€😀" }],
  ],
  prints: "import sys\nprint('to out')\nprint('to err', file=sys.stderr)",
  floods: "for i in range(5000):\n    print('é€😀')\n'ends'",
  errors: [
    ["x = 1\n1 / 0", "ZeroDivisionError", "line 2"],
    ["def f():\n    raise ValueError('no')\nf()", "ValueError", "line 2, in f"],
    ["a = (", "SyntaxError", "line 1"],
    ["await tools.fails()", "ToolError", "line 1"],
    ["import no_such_package", "ModuleNotFoundError", "line 1"],
  ],
  calls:
    "import asyncio\nrs = await asyncio.gather(*[tools.a.b(n=i) for i in range(6)])\ntry:\n" +
    "    await tools.fails()\nexcept ToolError as e:\n    kept = [e.kind, e.message, e.retryable]\n" +
    "found = await search('find')\n[sum(rs), *kept, found[0]['query']]",
  callsTool: "await tools.a()",
  endlessCalls: "for i in range(9):\n    await tools.a(i=i)",
  files:
    "text = open('in/kept.txt').read()\nopen('in/changed.txt', 'a').write('!')\n" +
    "open('made.txt', 'w').write('made')\ntext",
  writesTooMuch: "for i in range(4):\n    open(f'f{i}', 'wb').write(b'x' * 60_000)",
  largeResult: "'x' * 5000",
  loops: "print('begins')\nwhile True:\n    pass",
  hangs: "await tools.hang()",
  sleeps: "import time, asyncio\ntime.sleep(0.8)\nawait asyncio.sleep(0.5)\n'woke'",
  bombs: [["x = []\nwhile True:\n    x.append('x' * 1_000_000 + str(len(x)))"], ["bytearray(400_000_000)"]],
  recurses: "def f(n):\n    return f(n + 1) + 1\nf(0)",
  beginsAndLoops: "tools.begin().result()\nwhile True:\n    pass",
  leaves: "left = 7\nopen('/tmp/left', 'w').write('x')",
  finds: "import os\nleft if 'left' in globals() else ('a file' if os.path.exists('/tmp/left') else 'nothing')",
  throws: "raise KeyError('k')",
  integers:
    "import json\nids = inputs['ids']\nthrough = (await tools.a(ids=ids))['args']['ids']\n" +
    "json.dump(ids, open('ids.json', 'w'))\nsame = json.load(open('ids.json'))\n" +
    "[ids, through, same, [one + 1 for one in ids], {str(one): {'id': one} for one in ids}]",
};

export const JAVASCRIPT: Phrases = {
  values: [
    ["inputs.a + 1", 2],
    ["const x = 1; x;", 1],
    ["if (inputs.a) { 'block' }", "block"],
    ["return [1, new Map([['a', new Set([1, 2])]])]", [1, { a: [1, 2] }]],
    ["await 1; 'awaited'", "awaited"],
    ["const r = await tools.a({ x: 1 })\nr\n  .args; // the rest", { x: 1 }],
    ["const f = await (async () => 5)();\n`${f}`\n", "5"],
    ["await 1; return inputs.a + 4", 5],
    ["await 1; function g() { return 2 }\nconst o = { g };\no.g()", 2],
    ["if (await 1) { const q = 2 }", undefined],
    ["async () => { return (await tools.a({ x: 2 })).args }", { x: 2 }],
    ["inputs.list.toSorted().map((n) => n * 2)", [2, 4, 6]],
    ["new URL('https://a.b/c?d=1').searchParams.get('d') + btoa('a')", "1YQ=="],
    ["Number.NaN", null],
    ["({ 'ü': '€😀' })", { ü: "€😀" }],
    [
      "[new Date(0).getHours(), typeof performance.now(), typeof crypto.randomUUID(), new " +
        "TextDecoder().decode(new TextEncoder().encode('é'))]",
      [0, "number", "string", "é"],
    ],
  ],
  prints: "console.log('to out'); console.error('to err')",
  floods: "for (let i = 0; i < 5000; i += 1) console.log('é€😀'); 'ends'",
  errors: [
    ["const x = 1;\nnull.a", "TypeError", "code."],
    ["function f() { throw new RangeError('no') }\nf()", "RangeError", "at f (code."],
    ["let a = ;", "SyntaxError", "code."],
    ["await tools.fails({})", "ToolError", "ToolError: the disk is full"],
    ["await 1;\nthrow new TypeError('late')", "TypeError", ":2"],
    ["Promise.reject(new EvalError('unseen')); 1", "EvalError", "unseen"],
    ["require('fs')", "Error", "cannot be loaded"],
    ["await new Promise(() => {})", "Error", ""],
  ],
  calls:
    "const rs = await Promise.all([...Array(6).keys()].map((n) => tools.a.b({ n })));\nlet kept;\n" +
    "try { await tools.fails({}) } catch (e) { kept = [e.kind, e.message, e.retryable] }\n" +
    "const found = await search('find');\n[rs.reduce((a, b) => a + b), ...kept, found[0].query]",
  callsTool: "await tools.a({})",
  endlessCalls: "for (let i = 0; i < 9; i += 1) await tools.a({ i })",
  files:
    "const text = files.read('in/kept.txt'); files.append('in/changed.txt', '!'); " +
    "files.write('made.txt', 'made'); text",
  writesTooMuch: "for (let i = 0; i < 4; i += 1) files.write(`f${i}`, 'x'.repeat(60_000))",
  largeResult: "'x'.repeat(5000)",
  loops: "console.log('begins'); for (;;) {}",
  hangs: "await tools.hang({})",
  sleeps: "await new Promise((resolve) => setTimeout(resolve, 1300)); 'woke'",
  bombs: [
    ["const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)"],
    ["const all = []; for (;;) all.push(new Uint8Array(4e6).fill(1))"],
  ],
  recurses: "(function f(n) { return f(n + 1) + 1 })(0)",
  beginsAndLoops: "await tools.begin({}); for (;;) {}",
  leaves: "globalThis.left = 7; Array.prototype.left = 7; let other = 1",
  finds: "typeof left === 'undefined' ? [].left ?? 'nothing' : left",
  throws: "throw new TypeError('k')",
  integers:
    "const { ids } = inputs;\nconst through = (await tools.a({ ids })).args.ids;\n" +
    "files.writeJson('ids.json', ids);\nconst same = files.readJson('ids.json');\n" +
    "[ids, through, same, ids.map((one) => BigInt(one) + 1n), " +
    "Object.fromEntries(ids.map((one) => [`${one}`, { id: one }]))]",
};
