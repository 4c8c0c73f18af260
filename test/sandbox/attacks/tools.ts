import { CONTAINED, HELD, javascript, javascriptTries, python, pythonTries, SHORT, type Attack } from "./attack.ts";

// Attacks with host operations: tool calls and searches that are too many, too large, or of the wrong type. The host of
// these tests counts them.

const FEW = { limits: { toolCalls: 20, concurrentToolCalls: 3, toolBytes: 20_000 } } as const;

export const TOOLS: readonly Attack[] = [
  javascript(
    "tools/js-many",
    "makes more calls than allowed",
    "for (let i = 0; i < 1000; i++) { try { await tools.a({ i }) } catch {} } 1",
    { ends: ["limit"], says: /more than 20 tool calls/u },
    FEW,
  ),
  python(
    "tools/many",
    "makes more calls than allowed",
    "for i in range(1000):\n    try: tools.a.sync(i=i)\n    except ToolError: pass",
    { ends: ["limit", "finished"] },
    FEW,
  ),
  javascript(
    "tools/js-at-once",
    "makes them all concurrently",
    "await Promise.allSettled([...Array(20)].map((_, i) => tools.slow({ i }))); 1",
    { ends: ["finished"], value: 1 },
    FEW,
  ),
  python(
    "tools/at-once",
    "makes them all concurrently",
    "import asyncio\nawait asyncio.gather(*[tools.slow(i=i) for i in range(20)])\n1",
    { ends: ["finished"], value: 1 },
    FEW,
  ),
  javascript(
    "tools/js-searches",
    "floods the search",
    "await Promise.allSettled([...Array(500)].map((_, i) => search('x'.repeat(1e4), 1e9))); 1",
    { ends: ["limit"] },
    FEW,
  ),
  python(
    "tools/searches",
    "floods the search",
    "import asyncio\nawait asyncio.gather(*[search('x' * 4000, 10**9) for i in range(500)])",
    { ends: ["limit", "error"] },
    FEW,
  ),
  javascript(
    "tools/js-arguments",
    "passes arguments over their bound",
    "await tools.a({ x: 'y'.repeat(30000) })",
    { ends: ["error"], says: /20000 bytes/u },
    FEW,
  ),
  python(
    "tools/arguments",
    "passes arguments over their bound",
    "await tools.a(x='y' * 30_000)",
    { ends: ["error"], says: /20000 bytes/u },
    FEW,
  ),
  javascript(
    "tools/js-answer",
    "has a tool answer more than may be read",
    "await tools.big({})",
    { ends: ["error"] },
    FEW,
  ),
  python("tools/answer", "has a tool answer more than may be read", "await tools.big()", { ends: ["error"] }, FEW),
  javascript(
    "tools/js-crowd",
    "passes an argument whose text is small and whose objects are large",
    "await Promise.all([...Array(3)].map(() => tools.a({ x: [...Array(4000)].map(() => ({})) }))); 1",
    { ends: ["finished"], value: 1 },
    FEW,
  ),
  javascriptTries(
    "tools/js-names",
    "calls by names that are no tools",
    "for (const name of ['a\\nb', 'a\\0', '__proto__', 'constructor', '../a', '', ' ', 'hasOwnProperty', " +
      "'x'.repeat(400), '\\ud800', 'a;b', '{{file}}']) { const got = await tools(name, {}); " +
      "if (got.path !== name && got.path !== '\\ufffd') return got } throw new Error('each by its own name')",
  ),
  pythonTries(
    "tools/names",
    "calls by names that are no tools",
    "for name in ('a\\nb', 'a\\0', 'constructor', '../a', ' ', 'x' * 400, 'a;b'):\n" +
      "    got = tools[name]().result()\n    if got['path'] != name: return got\nraise LookupError",
  ),
  javascript(
    "tools/js-long-name",
    "calls by a name that never ends",
    "let t = tools; for (let i = 0; i < 1e5; i++) t = t.x; await t({})",
    { ends: ["error"] },
  ),
  python(
    "tools/long-name",
    "calls by a name that never ends",
    "t = tools\nfor i in range(10_000): t = t.x\nt().result()",
    { ends: ["error"] },
  ),
  javascript(
    "tools/js-replace",
    "puts its own in the place of tools and answers",
    "try { tools.a = () => 1 } catch {} globalThis.tools = { a: () => 2 }; Promise.resolve = () => 3; await tools.a()",
    CONTAINED,
  ),
  javascript(
    "tools/js-small",
    "asks for very many very small things",
    "for (let i = 0; i < 50000; i++) { try { new URL('http://a/' + i); new TextEncoder().encode('x'); " +
      "crypto.randomUUID() } catch {} } 1",
    { ends: ["finished", "timeout"] },
    { limits: { wallMs: 3000, cpuMs: 2000 } },
  ),
  python(
    "tools/small",
    "asks for very many very small things",
    "import os\nfor i in range(50_000):\n    os.urandom(1)\n    try: os.stat('x')\n    except OSError: pass\n1",
    { ends: ["finished", "timeout"] },
    { limits: { wallMs: 3000, cpuMs: 2000 } },
  ),
  javascript(
    "tools/js-abort",
    "is cut off while its tool works on",
    "await Promise.all([tools.never({}), tools.slow({}), tools.never({})])",
    { ends: ["timeout"] },
    { limits: SHORT },
  ),
  {
    ...pythonTries("tools/restricted", "calls a tool where there are none", "return tools.a().result()", {
      profile: "restricted",
    }),
    expect: HELD,
  },
  {
    ...javascriptTries("tools/js-restricted", "calls a tool where there are none", "return await tools.a({})", {
      profile: "restricted",
    }),
  },
  {
    ...javascriptTries(
      "tools/js-restricted-search",
      "searches where there is nothing to find",
      "return await search('a')",
      { profile: "restricted" },
    ),
  },
];
