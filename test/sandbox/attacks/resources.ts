import { CONTAINED, javascript, python, RUNS_OUT, SHORT, TIMES_OUT, type Attack } from "./attack.ts";

// Consumption of memory, time, output and depth.

const SLOW = { limits: { wallMs: 6000, cpuMs: 4000 } } as const;
/** Limits for attacks that end by themselves or by another limit: enough time on a busy machine. */
const PATIENT = { limits: { wallMs: 60_000, cpuMs: 50_000 } } as const;
const OUT = { ends: [...RUNS_OUT.ends, "timeout"] } as const;

const MEMORY: readonly Attack[] = [
  python("memory/list", "keeps growing a list", "a = []\nwhile True: a.append(bytes(100_000))", OUT, SLOW),
  python("memory/text", "doubles a text", "a = 'x'\nwhile True: a += a", OUT, SLOW),
  python("memory/number", "doubles a number", "a = 1 << 1_000_000\nwhile True: a = a << a.bit_length()", OUT, SLOW),
  python("memory/at-once", "allocates a gigabyte in one step", "bytearray(2**30)", OUT, SLOW),
  python("memory/format", "has a text padded", "'%2000000000d' % 1", OUT, SLOW),
  python(
    "memory/catch",
    "catches each failure and asks again",
    "import sys\na = []\nfor n in range(2000):\n    try: a.append(bytearray(10**8))\n" +
      "    except MemoryError: pass\nlen(a)",
    CONTAINED,
    SLOW,
  ),
  python(
    "memory/file",
    "fills a file",
    "f = open('a', 'wb')\nwhile True: f.write(b'x' * 100_000)",
    { ends: ["error", "limit"] },
    PATIENT,
  ),
  python("memory/sparse", "makes a file of holes", "open('a', 'wb').truncate(2**50)", { ends: ["error"] }),
  python(
    "memory/offset",
    "writes far behind the end of a file",
    "f = open('a', 'wb')\nf.seek(2**52)\nf.write(b'x')\nf.flush()",
    { ends: ["error"] },
  ),
  python(
    "memory/files",
    "makes files without end",
    "n = 0\nwhile True:\n    open(f'f{n}', 'w').close()\n    n += 1",
    { ends: ["error", "limit"] },
    PATIENT,
  ),
  python(
    "memory/folders",
    "makes folders without end, and deep ones",
    "import os\nfor n in range(100_000): os.makedirs('/'.join(['d'] * n) or 'e')",
    { ends: ["error", "limit", "crashed"] },
    PATIENT,
  ),
  python(
    "memory/names",
    "gives files huge names",
    "for n in (256, 4096, 10**6):\n    try: open('x' * n, 'w')\n    except OSError: pass\nimport os\n" +
      "len(os.listdir('.'))",
    { ends: ["finished"], value: 0 },
  ),
  python(
    "memory/descriptors",
    "opens without closing",
    "open('a', 'w').close()\nkept = []\nwhile True: kept.append(open('a'))",
    { ends: ["error"] },
  ),
  python(
    "memory/bomb",
    "unpacks a bomb",
    "import zlib\nd = zlib.compressobj()\nz = b''.join(d.compress(bytes(10**6)) for _ in range(200)) + " +
      "d.flush()\nlen(zlib.decompress(z))",
    OUT,
    SLOW,
  ),
  python(
    "memory/json",
    "reads deep JSON",
    "import json\njson.loads('[' * 10**6)",
    { ends: ["error", "crashed", "memory"] },
    PATIENT,
  ),
  python("memory/result", "returns more than it may", "['x' * 1000] * 10**6", { ends: ["limit", "memory"] }, PATIENT),
  python(
    "memory/database",
    "grows a database in memory",
    "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table t (x)')\n" +
      "while True: c.execute('insert into t values (zeroblob(1000000))')",
    OUT,
    SLOW,
  ),
  javascript("memory/js-text", "doubles a text", "let a = 'x'; for (;;) a += a + '!';", OUT, SLOW),
  javascript(
    "memory/js-array",
    "grows an array",
    "const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
    OUT,
    SLOW,
  ),
  javascript("memory/js-buffers", "grows buffers", "const a = []; for (;;) a.push(new Float64Array(1e6))", OUT, SLOW),
  javascript(
    "memory/js-shared",
    "grows shared buffers",
    "const a = []; for (;;) a.push(new SharedArrayBuffer(3e6))",
    OUT,
    SLOW,
  ),
  javascript("memory/js-number", "doubles a number", "let a = 2n ** 1000000n; for (;;) a = a * a", OUT, SLOW),
  javascript(
    "memory/js-wasm",
    "grows memory of WebAssembly",
    "const a = []; for (;;) a.push(new WebAssembly.Memory({ initial: 100 }))",
    OUT,
    SLOW,
  ),
  javascript(
    "memory/js-closures",
    "keeps promises and closures",
    "const a = []; for (;;) a.push(new Promise((r) => a.push(r)), () => a)",
    OUT,
    SLOW,
  ),
  javascript(
    "memory/js-regex",
    "compiles a regular expression that is huge",
    "new RegExp('(?:a{1,1000}){1,1000}'.repeat(20000)).test('b')",
    CONTAINED,
    SLOW,
  ),
  javascript(
    "memory/js-file",
    "fills files",
    "let t = 'x'.repeat(100000); for (let n = 0; ; n += 1) files.append('a', t)",
    { ends: ["error", "memory", "timeout"] },
    SLOW,
  ),
  javascript(
    "memory/js-files",
    "makes files without end",
    "for (let n = 0; ; n += 1) files.write('f' + n, '')",
    { ends: ["error"] },
    PATIENT,
  ),
  javascript("memory/js-names", "gives a file a huge name", "files.write('x'.repeat(1e6), '')", { ends: ["error"] }),
  javascript(
    "memory/js-result",
    "returns more than it may",
    "Array(1e5).fill('x'.repeat(100))",
    { ends: ["limit", "memory"] },
    PATIENT,
  ),
  javascript("memory/js-length", "joins an array that is only long", "Array(2 ** 32 - 1).join('xx').length", OUT, SLOW),
  javascript(
    "memory/js-timers",
    "sets timers without end",
    "for (;;) setTimeout(() => {}, 1e6)",
    { ends: ["error", "limit", "timeout"] },
    SLOW,
  ),
];

const TIME: readonly Attack[] = [
  ...(
    [
      ["loop", "loops", "while True: pass"],
      [
        "catch",
        "loops and catches all",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n    finally: pass",
      ],
      ["power", "computes a tower", "9 ** 9 ** 9"],
      [
        "sort",
        "sorts with a comparison that never ends",
        "import functools\nn = 0\ndef c(a, b):\n    while True: pass\nsorted([1, 2], key=functools.cmp_to_key(c))",
      ],
      ["sum", "adds in one call", "sum(range(10 ** 15))"],
      // Hashes are reduced modulo 2 ** 61 - 1, and modulo 2 ** 31 - 1 on 32-bit interpreters.
      ["hash", "puts colliding keys into a dict", "{(2 ** 61 - 1) * (2 ** 31 - 1) * n: 1 for n in range(10 ** 6)}"],
      ["generator", "consumes an endless generator", "list(x for x in iter(int, 1) if x)"],
      ["sleep", "sleeps", "import time\ntime.sleep(10_000)"],
      [
        "find",
        "searches a text in quadratic time",
        "('a' * 10**6).count('a' * 5 * 10**5 + 'b' + 'a' * 10)\nwhile True: ('ab' * 10**6).replace('ba', 'c' * 3)",
      ],
      [
        "database",
        "has a database count",
        "import sqlite3\nsqlite3.connect(':memory:').execute('with recursive c(x) as (select 1 union all " +
          "select x + 1 from c) select count(*) from c').fetchall()",
      ],
      ["pack", "compresses endlessly", "import zlib\nwhile True: zlib.compress(b'ab' * 10**6, 9)"],
      [
        "destructor",
        "continues in a destructor",
        "class A:\n    def __del__(self):\n        while True: pass\nA()\nNone",
      ],
      [
        "exit",
        "continues at the exit",
        "import atexit, sys\ndef on():\n    while True: pass\natexit.register(on)\n" +
          "sys.excepthook = lambda *a: on()\non()",
      ],
      [
        "trace",
        "continues in a trace function",
        "import sys\ndef t(*a):\n    while True: pass\nsys.settrace(t)\n(lambda: 1)()",
      ],
      ["redos", "makes a regular expression backtrack", "import re\nre.match(r'(a+)+$', 'a' * 50 + 'b')"],
      ["redos-alternatives", "makes alternatives backtrack", "import re\nre.match(r'(a|aa|a?)+$', 'a' * 80 + 'b')"],
    ] as const
  ).map(([name, what, code]) => python(`time/${name}`, what, code, TIMES_OUT, { limits: SHORT })),
  ...(
    [
      ["loop", "loops", "for (;;) {}"],
      ["catch", "loops and catches all", "for (;;) { try { for (;;) {} } catch {} finally { continue } }"],
      ["microtasks", "fills the queue of promises", "(function again() { Promise.resolve().then(again) })(); await 0"],
      ["async", "awaits endlessly", "for (;;) await null"],
      ["sort", "sorts with a comparison that never ends", "[2, 1].sort(() => { for (;;) {} })"],
      ["find", "searches a text in quadratic time", "'a'.repeat(5e6).indexOf('a'.repeat(25e5) + 'b')"],
      ["power", "computes a tower", "for (let a = 3n; ; ) a = a ** 5n % (10n ** 100000n)"],
      ["fill", "fills an object with a huge length", "Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0)"],
      ["getter", "continues while its result is serialised", "({ get a() { for (;;) {} } })"],
      [
        "to-string",
        "continues while its result is printed",
        "console.log({ toString() { for (;;) {} }, [Symbol.toPrimitive]() { for (;;) {} }, get x() { for (;;) {} } })",
      ],
      ["proxy", "continues in a proxy trap", "Object.keys(new Proxy({}, { ownKeys() { for (;;) {} } }))"],
      ["generator", "spreads an endless generator", "[...(function* () { for (;;) ; })()]"],
      ["redos", "makes a regular expression backtrack", "/(a+)+$/.test('a'.repeat(50) + 'b')"],
      ["redos-replace", "makes a replacement backtrack", "('a'.repeat(60) + '!').replace(/((a|a?)+)+$/, '')"],
      [
        "throw",
        "continues while its error is reported",
        "throw { get message() { for (;;) {} }, toString() { for (;;) {} }, get name() { for (;;) {} } }",
      ],
    ] as const
  ).map(([name, what, code]) =>
    javascript(`time/js-${name}`, what, code, { ends: ["timeout", "finished", "memory", "error"] }, { limits: SHORT }),
  ),
  javascript(
    "time/js-timers",
    "has a timer go on",
    "setInterval(() => {}, 0); await new Promise(() => {})",
    TIMES_OUT,
    { limits: SHORT },
  ),
  {
    ...javascript(
      "time/ts-types",
      "has its types stripped for long",
      `type A = ${"{ a: ".repeat(300)}1${" }".repeat(300)}; for (;;) {}`,
      { ends: ["timeout", "error"] },
      { limits: SHORT },
    ),
    language: "typescript",
  },
];

const HANGS: readonly Attack[] = [
  javascript("hangs/js-tool", "waits for a tool that never answers", "await tools.never({})", TIMES_OUT, {
    limits: SHORT,
  }),
  javascript(
    "hangs/js-promise",
    "waits for nothing",
    "await new Promise(() => {})",
    { ends: ["error"] },
    // The attack ends by itself; the limit only prevents a hang.
    SLOW,
  ),
  javascript("hangs/js-left", "leaves a call that never ends behind", "tools.never({}); 1", TIMES_OUT, {
    limits: SHORT,
  }),
  python("hangs/tool", "waits for a tool that never answers", "await tools.never()", TIMES_OUT, { limits: SHORT }),
  python("hangs/sync", "waits for it without a loop", "tools.never().result()", TIMES_OUT, { limits: SHORT }),
  python(
    "hangs/future",
    "waits for nothing",
    "import asyncio\nawait asyncio.get_running_loop().create_future()",
    { ends: ["error", "timeout"] },
    { limits: SHORT },
  ),
  python("hangs/left", "leaves a call that never ends behind", "tools.never()\n1", TIMES_OUT, { limits: SHORT }),
  python(
    "hangs/shield",
    "refuses to be cancelled",
    "import asyncio\nasync def a():\n    while True:\n        try: await asyncio.sleep(1000)\n" +
      "        except BaseException: pass\nawait asyncio.wait_for(a(), 0.05)",
    TIMES_OUT,
    { limits: SHORT },
  ),
];

const FLOODS: readonly Attack[] = [
  python("floods/lines", "prints without end", "while True: print('x' * 80)", TIMES_OUT, { limits: SHORT }),
  python(
    "floods/errors",
    "writes to stderr without end",
    "import sys\nwhile True: sys.stderr.write('x' * 1000)",
    TIMES_OUT,
    { limits: SHORT },
  ),
  python("floods/line", "prints one long line", "print('x' * 10_000_000)\n'on'", { ends: ["finished", "memory"] }),
  python(
    "floods/flushes",
    "flushes after each byte",
    "import sys\nfor n in range(200_000):\n    sys.stdout.write('x')\n    sys.stdout.flush()\n'on'",
    { ends: ["finished", "timeout"] },
    { limits: { wallMs: 3000, cpuMs: 2500 } },
  ),
  python(
    "floods/bytes",
    "prints bytes that are no text",
    "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 1000)\n'on'",
    { ends: ["finished"], value: "on" },
  ),
  javascript("floods/js-lines", "prints without end", "for (;;) console.log('x'.repeat(80))", TIMES_OUT, {
    limits: SHORT,
  }),
  javascript("floods/js-errors", "prints errors without end", "for (;;) console.error(new Error('x'))", TIMES_OUT, {
    limits: SHORT,
  }),
  javascript("floods/js-line", "prints one long line", "console.log('é'.repeat(5e6)); 'on'", {
    ends: ["finished", "memory"],
  }),
  javascript(
    "floods/js-bytes",
    "prints what cannot be shown",
    "console.log(Array.from({ length: 5000 }, (_, i) => String.fromCharCode(i)).join('') + '\\u001b[2J\\u202e'); 'on'",
    { ends: ["finished"], value: "on" },
  ),
];

const DEPTH: readonly Attack[] = [
  ...(
    [
      ["functions", "calls itself", "def f(): f()\nf()"],
      ["repr", "prints a deep list", "a = []\nfor _ in range(10**5): a = [a]\nrepr(a)"],
      ["limit", "raises the recursion limit first", "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()"],
      ["parser", "parses deep source", "eval('(' * 10**5 + ')' * 10**5)"],
      [
        "tree",
        "has a deep tree compiled",
        "import ast\nn = ast.Constant(1)\nfor _ in range(10**5): n = ast.UnaryOp(ast.USub(), n)\n" +
          "eval(compile(ast.fix_missing_locations(ast.Expression(n)), 'x', 'eval'))",
      ],
      ["compare", "compares deep lists", "a = b = None\nfor _ in range(10**5): a, b = [a], [b]\na == b"],
      ["json", "serialises a deep list", "import json\na = []\nfor _ in range(10**5): a = [a]\njson.dumps(a)"],
      ["pickle", "pickles a deep list", "import pickle\na = []\nfor _ in range(10**5): a = [a]\npickle.dumps(a)"],
      [
        "property",
        "reads itself endlessly",
        "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().a",
      ],
      [
        "error",
        "fails while it fails",
        "def f(e):\n    try: raise ValueError from e\n    except ValueError as x: f(x)\nf(None)",
      ],
    ] as const
  ).map(([name, what, code]) =>
    python(`depth/${name}`, what, code, { ends: ["error", "crashed", "memory", "timeout"] }, SLOW),
  ),
  python(
    "depth/destructor",
    "destroys a deep list",
    "a = None\nfor _ in range(10**5): a = (a,)\ndel a\n'on'",
    CONTAINED,
    SLOW,
  ),
  python(
    "depth/result",
    "returns a deep list",
    "a = []\nfor _ in range(10**5): a = [a]\na",
    { ends: ["error", "limit", "crashed"] },
    PATIENT,
  ),
  ...(
    [
      ["functions", "calls itself", "(function f() { return f() + 1 })()"],
      ["json", "parses deep JSON", "JSON.parse('['.repeat(1e6))"],
      ["source", "parses deep source", "eval('['.repeat(1e5))"],
      ["flat", "flattens a deep list", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)"],
      ["text", "converts a deep list to text", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)"],
      ["result", "returns a deep list", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a"],
      ["clone", "clones a deep list", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)"],
      ["proxy", "stacks proxies", "let a = {}; for (let i = 0; i < 1e5; i++) a = new Proxy(a, {}); a.x"],
      ["regex", "compiles a deep regular expression", "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))"],
      [
        "argument",
        "passes a deep list to a tool",
        "let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; await tools.a(a)",
      ],
    ] as const
  ).map(([name, what, code]) =>
    javascript(`depth/js-${name}`, what, code, { ends: ["error", "limit", "memory", "crashed"] }, PATIENT),
  ),
  javascript(
    "depth/js-show",
    "prints a deep list",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; console.log(a); 'held'",
    CONTAINED,
    SLOW,
  ),
];

export const RESOURCES: readonly Attack[] = [...MEMORY, ...TIME, ...HANGS, ...FLOODS, ...DEPTH];
