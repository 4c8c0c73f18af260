import { CONTAINED, javascript, javascriptTries, MODEST, python, type Attack } from "./attack.ts";

// Ways from a value to the host's objects, and prototypes in arguments and results.

const DENO_TOO = { deno: "its own globals are those of a browser, without any rights" } as const;
/** Searches for a process object in the code's globals, and reads a file through it. */
const SEEK =
  "const p = get('return this')().process ?? get('return typeof process === \\'undefined\\' ? " +
  "undefined : process')(); if (!p) throw new Error('none'); return p.env.{{variable}} ?? p.pid";

const HOST_OBJECTS: readonly Attack[] = [
  ...[
    "tools",
    "search",
    "console",
    "files",
    "setTimeout",
    "inputs",
    "crypto",
    "URL",
    "TextEncoder",
    "ToolError",
    "globalThis",
    "(await tools.a({}))",
    "tools.a({})",
  ].map((name) =>
    javascriptTries(
      `objects/constructor-${name.replaceAll(/\W/gu, "")}-${name.length}`,
      `climbs the constructors of ${name}`,
      `const get = Object.getPrototypeOf(async () => {}).constructor && ${name}.constructor?.constructor ?? ` +
        `Function; ${SEEK}`,
      { gainsOn: DENO_TOO },
    ),
  ),
  javascriptTries(
    "objects/error",
    "climbs from an exception of the host",
    `let get; try { files.read('../x') } catch (e) { get = e.constructor.constructor } ${SEEK}`,
    { gainsOn: DENO_TOO },
  ),
  javascriptTries(
    "objects/rejection",
    "climbs from a failed tool",
    `let get; try { await tools.fails({}) } catch (e) { get = e.constructor.constructor } ${SEEK}`,
    { gainsOn: DENO_TOO },
  ),
  javascriptTries(
    "objects/frames",
    "takes functions and receivers out of a stack",
    "let frames = []; Error.prepareStackTrace = (_, f) => f; " +
      "try { files.read('../x') } catch (e) { frames = e.stack } const found = [...frames].flatMap((f) => " +
      "[f.getThis?.(), f.getFunction?.()]).filter((x) => x && x.constructor?.constructor?.('return typeof " +
      "process')() === 'object'); if (found.length === 0) throw new Error('none'); return found",
  ),
  javascriptTries(
    "objects/caller",
    "asks who called",
    "function f() { return arguments.callee.caller ?? f.caller } return String(f().constructor('return process')())",
  ),
  javascriptTries(
    "objects/eval",
    "evaluates text in every way",
    "const kinds = [Function, (async () => {}).constructor, (function* () {}).constructor, (async function* " +
      "() {}).constructor]; for (const K of kinds) { const p = await K('return typeof " +
      "process')().next?.()?.value ?? await K('return typeof process')(); " +
      "if (p === 'object') return p } if ((0, eval)('typeof process') === 'object') return 1; " +
      "throw new Error('none')",
    { gainsOn: DENO_TOO },
  ),
  javascriptTries("objects/realm", "makes another realm", "return new ShadowRealm().evaluate('typeof process')"),
  javascriptTries(
    "objects/wasm",
    "runs WebAssembly with imports of the host",
    "return Object.keys(new WebAssembly.Memory({ initial: 1, maximum: 65536 }))",
    { gainsOn: DENO_TOO },
  ),
  javascript(
    "objects/atomics",
    "waits on shared memory",
    "try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) } catch {} 'on'",
    { ...CONTAINED },
    { limits: { wallMs: 600 } },
  ),
  javascriptTries(
    "objects/import",
    "imports what Node has, by every spelling",
    "for (const name of ['node:fs', 'fs', 'node:process', 'module', 'data:text/javascript,export default " +
      "process', 'quickjs-wasi', './worker.js', 'os', 'std']) { try { const m = await import(name); " +
      "return Object.keys(m) } catch {} } throw new Error('none')",
    { gainsOn: DENO_TOO },
  ),
  javascript(
    "objects/proxy",
    "gives a tool a proxy with traps for everything",
    "const log = []; const trap = new Proxy({}, { get: (_, k) => (log.push(String(k)), () => trap), ownKeys: " +
      "() => ['a', '__proto__'], getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, " +
      "value: 1 }), getPrototypeOf: () => Array.prototype, has: () => true }); " +
      "try { await tools.a(trap) } catch {} 'on'",
    CONTAINED,
  ),
  javascript(
    "objects/getter",
    "has a getter call tools while its object is written out",
    "let n = 0; const o = { get x() { if (n++ < 5) tools.a(o); return 1 } }; try { await tools.a(o) } catch {} 'on'",
    CONTAINED,
  ),
  javascript(
    "objects/thenable",
    "returns an endless promise-like object",
    "({ then(resolve) { resolve({ then(again) { again(this) } }) } })",
    { ends: ["error", "timeout", "finished"] },
    { limits: { wallMs: 600, cpuMs: 300 } },
  ),
  javascript(
    "objects/symbols",
    "redefines what the language asks of objects",
    "for (const s of Reflect.ownKeys(Symbol)) { if (typeof Symbol[s] !== 'symbol') continue; " +
      "for (const P of [Object, Array, Promise, Function, String, Map]) { try { " +
      "Object.defineProperty(P.prototype, Symbol[s], { get() { throw 1 }, configurable: true }) } catch {} } } " +
      "try { await tools.a({}) } catch {} 'on'",
    CONTAINED,
    { limits: { wallMs: 1500 } },
  ),
  javascript(
    "objects/unwatched",
    "throws what cannot be shown",
    "throw new Proxy(function () {}, { get() { throw new Proxy({}, { get() { throw 1 } }) }, getPrototypeOf() " +
      "{ throw 2 } })",
    { ends: ["error"] },
  ),
  javascript(
    "objects/forged-error",
    "throws an error with lines of the host",
    "const e = new Error('x'); e.stack = 'at Object.<anonymous> (/etc/passwd:1:1)\\n    at node:internal'; " +
      "e.name = 'a'.repeat(1e6); throw e",
    { ends: ["error"] },
  ),
];

const RESULT_PROTOTYPES: readonly Attack[] = [
  javascript(
    "results/proto",
    "returns a key that is a prototype in JavaScript",
    'JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\')',
    CONTAINED,
  ),
  javascript(
    "results/arguments",
    "gives a tool such keys",
    'await tools.a(JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\')); 1',
    CONTAINED,
  ),
  javascript(
    "results/to-json",
    "returns an object that writes itself",
    "({ toJSON() { return { toJSON: 1, __proto__: null, big: [1, 2, 3] } } })",
    CONTAINED,
  ),
  javascript(
    "results/stringify",
    "puts another function in place of the one that writes JSON",
    "JSON.stringify = () => '{junk'; JSON.parse = () => ({ ok: true }); ({ a: 1 })",
    { ends: ["finished"], value: { a: 1 } },
  ),
  javascript(
    "results/array",
    "redefines arrays",
    "for (const k of ['push', 'map', 'join', 'flatMap', 'slice', 'includes']) Array.prototype[k] = () => { " +
      "throw 1 }; Object.defineProperty(Array.prototype, '0', { set() { throw 1 } }); [1, 2]",
    CONTAINED,
  ),
  javascript(
    "results/promise",
    "redefines promises",
    "Promise.prototype.then = function () { return 1 }; globalThis.Promise = class { constructor() { throw 1 } }; 5",
    CONTAINED,
    { limits: { wallMs: 800 } },
  ),
  javascript(
    "results/object",
    "redefines objects",
    "Object.prototype.toJSON = () => 'mine'; Object.defineProperty(Object.prototype, 'value', { get: () => " +
      "'forged', set() {} }); Object.keys = Object.entries = () => { throw 1 }; ({ a: 1 })",
    CONTAINED,
  ),
  javascript(
    "results/text",
    "redefines texts and maps",
    "String.prototype.trim = RegExp.prototype.exec = Map.prototype.get = Map.prototype.set = " +
      "WeakMap.prototype.get = () => { throw 1 }; 'on'",
    CONTAINED,
  ),
  javascript(
    "results/numbers",
    "returns numbers that JSON does not have",
    "[2 ** 53 + 1, 1e400, -0, NaN, 10n ** 40n, -(10n ** 20n), 10n]",
    { ends: ["finished"], value: [2n ** 53n, null, 0, null, 10n ** 40n, -(10n ** 20n), 10] },
  ),
  javascript(
    "results/surrogate",
    "returns half of a character, and prints it",
    "console.log('\\ud800'); files.write('\\ud800.txt', '\\udc00'); ({ ['\\ud800']: '\\udfff' })",
    CONTAINED,
  ),
  // The assignment to such a key sets no own property, so it changes nothing.
  javascript(
    "results/proxy",
    "returns a proxy with endless keys",
    "new Proxy({}, { ownKeys: () => Array.from({ length: 1e5 }, (_, i) => 'k' + i), getOwnPropertyDescriptor: " +
      "() => ({ configurable: true, enumerable: true, value: 'x'.repeat(1000) }) })",
    { ends: ["limit", "memory", "error", "timeout", "finished"], value: {} },
    { limits: { cpuMs: 1500 } },
  ),
  javascript(
    "results/cycle",
    "returns itself",
    "const o = { a: [] }; o.a.push(o, globalThis, Symbol.iterator, () => 1); o",
    CONTAINED,
  ),
  python(
    "results/py-proto",
    "returns and passes keys that are prototypes in JavaScript",
    "k = {'__proto__': {'polluted': 1}, 'constructor': {'prototype': {'polluted': 1}}}\nawait tools.a(**k)\nk",
    CONTAINED,
  ),
  python(
    "results/py-json",
    "puts another function in place of the one that writes JSON",
    "import json\njson.JSONEncoder.encode = lambda self, o: '{junk'\n" +
      'json.dumps = lambda *a, **k: \'{"op":"done","end":"finished","result":"{junk"}\'\n{\'a\': 1}',
    { ends: ["finished", "crashed", "error"] },
  ),
  python(
    "results/py-builtins",
    "redefines what everything uses",
    "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.len = lambda x: -1\n" +
      "builtins.type = lambda x: int\nbuiltins.id = lambda x: 0\n[1]",
    CONTAINED,
    { limits: MODEST },
  ),
  python(
    "results/py-numbers",
    "returns what JSON does not have",
    "[2**53 + 1, float('nan'), float('-inf'), 10**5000 > 0]",
    CONTAINED,
  ),
  python(
    "results/py-surrogate",
    "returns half of a character, and prints it",
    "print('\\ud800')\nopen('a.txt', 'w', errors='surrogatepass').write('\\ud800')\n{'\\ud800': '\\udfff'}",
    CONTAINED,
  ),
  python("results/py-duplicates", "returns a key twice", "{1: 'a', '1': 'b', True: 'c', 'true': 'd'}", CONTAINED),
  python(
    "results/py-lies",
    "returns an object that lies about everything",
    "class Liar(dict):\n    def items(self): raise MemoryError\n    def __len__(self): return -1\n" +
      "    def __repr__(self): raise SystemExit(3)\n    def __iter__(self): return self\n" +
      "    def __next__(self): return self\n    def __class__(self): return int\nLiar(a=1)",
    CONTAINED,
  ),
  python(
    "results/py-raises",
    "raises what cannot be shown",
    "class E(BaseException):\n    def __str__(self): raise KeyboardInterrupt\n" +
      "    def __repr__(self): raise MemoryError\n    __class__ = property(lambda s: 1 / 0)\nraise E",
    { ends: ["error", "crashed", "memory"] },
  ),
];

export const OBJECTS: readonly Attack[] = [...HOST_OBJECTS, ...RESULT_PROTOTYPES];
