import { CONTAINED, MODEST, SHORT, type Plot } from "./attack.ts";

// Attacks of one run on another: concurrent, earlier, or in another caller's session.

const FINE = { ends: ["finished"] } as const;
const SAY =
  "import os, json, time\nfd = os.open('/.rpc', os.O_RDWR)\ndef say(**d): os.write(fd, json.dumps(d).encode())\n";
const NOT_ON = { "bwrap-python": "speaks over a pipe" } as const;

export const PLOTS: readonly Plot[] = [
  {
    id: "jobs/goes-on",
    what: "reports its end, and continues in its session",
    language: "python",
    notOn: NOT_ON,
    steps: [
      {
        code: `${SAY}say(op='done', end='finished')\nwhile True: pass`,
        session: "goes-on",
        expect: { ends: ["crashed"], says: /continued/u },
      },
      { code: "1 + 1", session: "goes-on", expect: { ...FINE, value: 2 } },
    ],
  },
  {
    id: "jobs/steals",
    what: "takes the next job of its session for itself, and sits on it",
    language: "python",
    notOn: NOT_ON,
    steps: [
      {
        code: `${SAY}say(op='done', end='finished')\nsay(op='next')\nwhile True: time.sleep(0.01)`,
        session: "steals",
        expect: CONTAINED,
        limits: SHORT,
      },
      { code: "1 + 1", session: "steals", expect: { ends: ["timeout"] }, limits: SHORT },
      { code: "1 + 1", session: "steals", expect: { ...FINE, value: 2 } },
    ],
  },
  {
    id: "jobs/late",
    what: "speaks for the next run of its session before that has begun",
    language: "python",
    notOn: NOT_ON,
    steps: [
      {
        code: `${SAY}for _ in range(3): say(op='search', id=1, query='x', limit=1)\n1`,
        session: "late",
        expect: CONTAINED,
      },
      { code: "x = tools.a(n=1).result()\nx['args']", session: "late", expect: { ...FINE, value: { n: 1 } } },
    ],
  },
  {
    id: "jobs/fresh",
    what: "leaves variables, files, modules and changed functions behind",
    language: "python",
    steps: [
      {
        code:
          "import builtins, sys, json, os\nbuiltins.len = lambda x: 42\nbuiltins.leak = 'left'\n" +
          "sys.modules['leak'] = sys\njson.dumps = lambda *a, **k: '\"forged\"'\n" +
          "open('leak.txt', 'w').write('left')\nleak = 'left'",
        expect: CONTAINED,
        limits: MODEST,
      },
      {
        code:
          "import builtins, sys, json, os\n[len([1]), hasattr(builtins, 'leak'), 'leak' in sys.modules, " +
          "json.dumps(1), os.path.exists('leak.txt'), 'leak' in globals()]",
        expect: { ...FINE, value: [1, false, false, "1", false, false] },
      },
    ],
  },
  {
    id: "jobs/js-fresh",
    what: "leaves variables, files, timers and changed functions behind",
    language: "javascript",
    steps: [
      {
        code:
          "globalThis.leak = 'left'; Object.prototype.leak = 'left'; JSON.stringify = () => '\"forged\"'; " +
          "files.write('leak.txt', 'left'); setInterval(() => console.log('left'), 1); " +
          "setTimeout(() => tools.a({}), 1); 1",
        expect: CONTAINED,
        limits: SHORT,
      },
      {
        code: "[typeof leak, JSON.stringify(1), files.list().length, ({}).leak === undefined]",
        expect: { ...FINE, value: ["undefined", "1", 0, true] },
      },
    ],
  },
  {
    id: "jobs/js-sessions",
    what: "reads another caller's session",
    language: "javascript",
    steps: [
      {
        code: "globalThis.secret = 'mine'; files.write('mine.txt', 'mine'); 1",
        session: JSON.stringify(["alice", "s"]),
        expect: FINE,
      },
      {
        code: "[typeof secret, files.list().length]",
        session: JSON.stringify(["bob", "s"]),
        expect: { ...FINE, value: ["undefined", 0] },
      },
      {
        code: "[typeof secret, files.list().length]",
        session: JSON.stringify(['alice","s', ""]),
        expect: { ...FINE, value: ["undefined", 0] },
      },
      { code: "secret", session: JSON.stringify(["alice", "s"]), expect: { ...FINE, value: "mine" } },
    ],
  },
  {
    id: "jobs/sessions",
    what: "reads another caller's session",
    language: "python",
    steps: [
      {
        code: "secret = 'mine'\nopen('mine.txt', 'w').write('mine')\n1",
        session: JSON.stringify(["alice", "s"]),
        expect: FINE,
      },
      {
        code: "import os\n['secret' in globals(), os.path.exists('mine.txt')]",
        session: JSON.stringify(["bob", "s"]),
        expect: { ...FINE, value: [false, false] },
      },
      { code: "secret", session: JSON.stringify(["alice", "s"]), expect: { ...FINE, value: "mine" } },
    ],
  },
  {
    id: "jobs/js-timers",
    what: "leaves timers and calls behind that come back in the next run of its session",
    language: "javascript",
    steps: [
      {
        code:
          "globalThis.n = 0; const again = () => { n += 1; setTimeout(again, 0) }; again(); " +
          "Promise.resolve().then(function spin() { n += 1; if (n < 1e4) Promise.resolve().then(spin) }); " +
          "throw new Error('ends here')",
        session: "timers",
        expect: { ends: ["error", "timeout"] },
        limits: SHORT,
      },
      { code: "'mine'", session: "timers", expect: { ...FINE, value: "mine" } },
    ],
  },
  {
    id: "jobs/at-once",
    what: "answers calls of a concurrent run, by their ids",
    language: "python",
    isAtOnce: true,
    steps: [0, 1, 2].map((n) => ({
      code: `r = [tools.a(n=${n}, i=i).result()['args'] for i in range(5)]\nall(x['n'] == ${n} for x in r) and len(r)`,
      expect: { ...FINE, value: 5 },
    })),
  },
  {
    id: "jobs/js-at-once",
    what: "answers calls of a concurrent run, by their ids",
    language: "javascript",
    isAtOnce: true,
    steps: [0, 1, 2].map((n) => ({
      code:
        `const r = await Promise.all([...Array(8)].map((_, i) => tools.slow({ n: ${n}, i }))); ` +
        `r.every((x, i) => x.args.n === ${n} && x.args.i === i)`,
      expect: { ...FINE, value: true },
    })),
  },
  {
    id: "jobs/js-one-session",
    what: "runs twice concurrently in one session",
    language: "javascript",
    isAtOnce: true,
    steps: [0, 1].map(() => ({
      code: "await tools.slow({}); 1",
      session: "once",
      expect: { ends: ["finished", "busy"] as const },
    })),
  },
  {
    id: "jobs/exit",
    what: "ends the interpreter of its session, which the next run counts on",
    language: "python",
    steps: [
      { code: "import os\nos._exit(0)", session: "exit", expect: { ends: ["error", "crashed"] } },
      { code: "1 + 1", session: "exit", expect: { ends: ["finished", "crashed"] } },
      { code: "1 + 1", session: "exit", expect: { ...FINE, value: 2 } },
    ],
  },
];
