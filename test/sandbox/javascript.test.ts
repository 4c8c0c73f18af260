import { afterAll, describe, expect, test } from "vitest";
import { echoHost, embedded, valueOf } from "./drive.ts";

const sandbox = embedded();
afterAll(() => sandbox.engine.dispose());
const { run } = sandbox;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

describe("results", () => {
  test.each([
    ["the last expression", "const a = 1;\nconst b = 2;\na + b", 3],
    ["what is returned", "const a = 20;\nreturn a * 2;", 40],
    ["a return in one branch", "if (true) { return 'early' }\nthrow new Error('late')", "early"],
    ["an awaited value", "const x = await Promise.resolve(5); x * 2", 10],
    [
      "what the promise of the last expression gives",
      "async function main() { return { done: true } }\nmain()",
      { done: true },
    ],
    [
      "BigInt, Map, Set and Date as JSON has them",
      "[10n, 2n ** 70n, new Map([['k', 1]]), new Map([[1, 2]]), new Set([1]), new Date(0)]",
      [10, 1_180_591_620_717_411_303_424n, { k: 1 }, [[1, 2]], [1], "1970-01-01T00:00:00.000Z"],
    ],
    ["a cycle, marked", "const a = { name: 'a' }; a.self = a; a", { name: "a", self: "[Circular]" }],
    ["an object that stands in two places, both times", "const o = { x: 1 }; [o, o]", [{ x: 1 }, { x: 1 }]],
    [
      "what a function gives that is all of the code",
      "async () => {\n  return await Promise.resolve(inputs.factor)\n};\n",
      3,
    ],
    ["a function, named, where there is more code", "const f = () => 1; f", "[function f]"],
    ["returned beside a resource at the top", "using r = { [Symbol.dispose]() {} };\nreturn 4", 4],
    ["inputs", "inputs.rows.map((row) => row * inputs.factor)", [3, 6]],
  ])("the result is %s", async (_what, code, value) => {
    const outcome = await run({ code, inputs: { rows: [1, 2], factor: 3 } });
    expect(outcome).toMatchObject({ end: "finished", stderr: "", truncated: false });
    expect(valueOf(outcome)).toEqual(value);
  });

  test("undefined means no result", async () => {
    expect(await run({ code: "console.log('a'); undefined" })).toMatchObject({ end: "finished", stdout: "a\n" });
    expect((await run({ code: "undefined" })).resultJson).toBeUndefined();
  });

  test("code that overrides built-in functions can only damage its own result", async () => {
    const outcome = await run({
      code: "JSON.stringify = () => '{bad'; Array.isArray = () => true; Object.prototype.polluted = 1; ({ a: 1 })",
    });
    expect(valueOf(outcome)).toEqual({ a: 1 });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(valueOf(await run({ code: "({}).polluted ?? 'clean'" }))).toBe("clean");
  });

  test("keeps a member named __proto__", async () => {
    const outcome = await run({ code: `JSON.parse('{"__proto__": {"admin": true}}')` });
    expect(outcome.resultJson).toBe('{"__proto__":{"admin":true}}');
  });
});

describe("TypeScript", () => {
  test("runs types, enums, generics and parameter properties", async () => {
    const code =
      "interface A { x: number }\nenum E { P = 3 }\nclass C<T> { constructor(public readonly z: T) {} }\n" +
      "const a: A = { x: E.P };\nnew C<number>(a.x).z satisfies number";
    expect(valueOf(await run({ language: "typescript", code }))).toBe(3);
  });

  test("reports the line of code that is not TypeScript", async () => {
    const { end, error } = await run({ language: "typescript", code: "const a = 1;\nconst b: = 3" });
    expect(end).toBe("error");
    expect(error).toMatchObject({ type: "SyntaxError", traceback: expect.stringContaining("code.ts:2") as string });
  });

  test("refuses types in JavaScript", async () => {
    expect(await run({ code: "const a: number = 1; a" })).toMatchObject({
      end: "error",
      error: { type: "SyntaxError" },
    });
  });
});

describe("errors", () => {
  test("an exception has its name, its message, and only lines of the code", async () => {
    const { end, error } = await run({
      code: "function inner() {\n  throw new RangeError('too far');\n}\n\nawait 1;\ninner();",
    });
    expect(end).toBe("error");
    expect(error).toEqual({
      type: "RangeError",
      message: "too far",
      traceback: "RangeError: too far\n    at inner (code.js:2:13)\n    at code.js:6:1",
    });
  });

  test("lines and columns are correct in code with a return, too", async () => {
    const { error } = await run({ code: "missing.value; return 1" });
    expect(error).toMatchObject({
      type: "ReferenceError",
      traceback: "ReferenceError: missing is not defined\n    at code.js:1:1",
    });
  });

  test.each([
    ["throw 'words'", 'Uncaught "words"'],
    ["throw null", "Uncaught null"],
    ["throw { get message() { throw 1 } }", "The thrown value cannot be shown."],
    ["Promise.reject(new Error('nobody waits')); 1", "nobody waits"],
    ["setTimeout(() => { throw new Error('later') }, 1); 1", "later"],
    ["await new Promise(() => {})", "The code waits for a promise that nothing will ever settle."],
  ])("%s ends with an error", async (code, message) => {
    expect(await run({ code })).toMatchObject({ end: "error", error: { message } });
  });

  test.each(["import fs from 'fs'", "export const a = 1"])("%s reports that there are no modules", async (code) => {
    const { error } = await run({ code });
    expect(error).toMatchObject({
      type: "SyntaxError",
      message: expect.stringContaining("without `import`") as string,
    });
  });

  test("import() and require() name the alternative", async () => {
    const code =
      "const words = [];\ntry { await import('fs') } catch (e) { words.push(e.message) }\n" +
      "try { require('fs') } catch (e) { words.push(e.message) }\nwords";
    expect(valueOf(await run({ code }))).toEqual([
      expect.stringContaining("no modules"),
      expect.stringContaining("files, inputs, URL"),
    ]);
  });
});

describe("tools", () => {
  test("makes concurrent calls in the order of their start, and returns their values", async () => {
    // Answers only after all calls have arrived.
    const asked: (() => void)[] = [];
    const host = echoHost({
      "mail.read": async ({ id }) => {
        await new Promise<void>((resolve) => {
          asked.push(resolve);
          if (asked.length === 4) for (const answer of asked.toReversed()) answer();
        });
        return { id, subject: `s${String(id)}` };
      },
    });
    const outcome = await run({
      host,
      code:
        "const mails = await Promise.all([1, 2, 3, 4].map((id) => tools.mail.read({ id })));\n" +
        "mails.map((mail) => mail.subject)",
    });
    expect(valueOf(outcome)).toEqual(["s1", "s2", "s3", "s4"]);
    expect(outcome.toolCalls).toEqual(
      Array.from({ length: 4 }, () => ({ name: "mail.read", ms: expect.any(Number) as number, ok: true })),
    );
  });

  test("a failure is a ToolError with outcome code, message and the line of the call", async () => {
    const { end, error, toolCalls } = await run({ code: "\nawait tools.fails({ a: 1 })" });
    expect(end).toBe("error");
    expect(error).toMatchObject({
      type: "ToolError",
      message: "the disk is full",
      traceback: expect.stringContaining("code.js:2") as string,
    });
    expect(toolCalls).toMatchObject([{ name: "fails", ok: false }]);
    const caught =
      "try { await tools.fails({}) } catch (e) { [e instanceof ToolError, e.name, e.kind, e.retryable, e.tool] }";
    expect(valueOf(await run({ code: caught }))).toEqual([true, "ToolError", "tool_error", true, "fails"]);
  });

  test("calls names of any depth and spelling; printing a name does not call it", async () => {
    const outcome = await run({
      code: "console.log(tools.a.b, `${tools.c}`);\n[await tools['my-server'].x.y({ n: 1 }), await tools('a name')]",
    });
    expect(valueOf(outcome)).toEqual([
      { path: "my-server.x.y", args: { n: 1 } },
      { path: "a name", args: {} },
    ]);
    expect(outcome.stdout).toBe("[tool a.b] [tool c]\n");
    expect(outcome.toolCalls).toHaveLength(2);
  });

  test.each(["tools.a.b(1)", "tools.a.b([])", "tools.a.b({}, {})", "tools()"])(
    "refuses %s before the call reaches the host",
    async (code) => {
      expect(await run({ code })).toMatchObject({ end: "error", error: { type: "TypeError" }, toolCalls: [] });
    },
  );

  test("search calls the host", async () => {
    expect(valueOf(await run({ code: "[await search('send mail'), await search('x', 3)]" }))).toEqual([
      [{ query: "send mail", limit: 10 }],
      [{ query: "x", limit: 3 }],
    ]);
  });

  test("makes an unawaited call before the run ends", async () => {
    const { end, toolCalls } = await run({
      code: "tools.log.write({ line: 1 }).then(() => console.log('written'));\n'ok'",
    });
    expect(end).toBe("finished");
    expect(toolCalls).toMatchObject([{ name: "log.write", ok: true }]);
  });

  test("S9: the restricted profile has no tools, and the scripting one has", async () => {
    const code = "[typeof tools, typeof search, typeof ToolError]";
    expect(valueOf(await run({ code, profile: "restricted" }))).toEqual(["undefined", "undefined", "undefined"]);
    expect(valueOf(await run({ code }))).toEqual(["function", "function", "function"]);
  });
});

describe("additional globals", () => {
  test("console writes to both streams", async () => {
    const { stdout, stderr } = await run({
      code:
        "console.log('n=%d %s', 1, 'x', { a: [1, { b: 'q' }] }); console.error(new TypeError('bad')); " +
        "console.table([1])",
    });
    expect(stdout).toBe('n=1 x { a: [ 1, { b: "q" } ] }\n[ 1 ]\n');
    expect(stderr).toBe("TypeError: bad\n");
  });

  test("reads, changes and returns files", async () => {
    const code =
      "files.write('out/sum.txt', String(files.readText('in.csv').split(',').reduce((a, b) => a + Number(b), " +
      "0)));\nfiles.writeJson('o.json', { é: 1 });\nfiles.remove('old.txt');\n" +
      "[files.list(), files.readBytes('in.csv').length, files.exists('./in.csv')]";
    const files = [
      { path: "in.csv", bytes: Buffer.from("1,2,3") },
      { path: "old.txt", bytes: Buffer.from("x") },
    ];
    const outcome = await run({ code, files });
    expect(valueOf(outcome)).toEqual([["in.csv", "o.json", "out/sum.txt"], 5, true]);
    expect(outcome.artifacts.map(({ path, bytes }) => [path, text(bytes)])).toEqual([
      ["out/sum.txt", "6"],
      ["o.json", '{\n  "é": 1\n}'],
    ]);
  });

  test("refuses paths outside its folder, missing files, and too many files", async () => {
    const tries = [
      "files.read('nope.txt')",
      "files.write('../x', '')",
      "files.write('a', 'x'.repeat(2000))",
      "files.write('b', '1'); files.write('c', '1'); files.write('d', '1')",
    ];
    const guarded = (each: string): string => `try { ${each}; words.push('none') } catch (e) { words.push(e.message) }`;
    const code = tries.map(guarded).join("\n");
    const outcome = await run({ code: `const words = [];\n${code}\nwords`, limits: { fileBytes: 1000, files: 2 } });
    expect(valueOf(outcome)).toEqual([
      expect.stringContaining('no file "nope.txt"'),
      expect.stringContaining("not a valid path"),
      expect.stringContaining("1000 bytes"),
      expect.stringContaining("2 files"),
    ]);
  });

  test("preserves binary data", async () => {
    const { artifacts } = await run({
      code: "const b = files.readBytes('b'); files.write('r', b.toReversed()); files.write('s', b.buffer)",
      files: [{ path: "b", bytes: Uint8Array.of(0, 255, 128) }],
    });
    expect(artifacts.map(({ bytes }) => Array.from(bytes))).toEqual([
      [128, 255, 0],
      [0, 255, 128],
    ]);
  });

  test.each([
    [
      "const u = new URL('/x?a=1', 'https://h.de:81'); u.searchParams.append('b', 'ä c'); u.port = '99'; u.href",
      "https://h.de:99/x?a=1&b=%C3%A4+c",
    ],
    ["[...new URLSearchParams({ a: '1', b: '2' })].join()", "a,1,b,2"],
    ["try { new URL('no') } catch (e) { e.name }", "TypeError"],
    ["new TextDecoder().decode(new TextEncoder().encode('héé'))", "héé"],
    ["new TextDecoder('windows-1252').decode(new Uint8Array([0x93, 0x80, 0x85, 0x94, 0xe9]))", "“€…”é"],
    ["new TextDecoder('latin1', { fatal: true }).decode(new Uint8Array([0x9f, 0x81]))", "Ÿ\u0081"],
    ["const d = structuredClone({ m: new Map([[1, { d: new Date(0) }]]) }); d.m.get(1).d.getTime()", 0],
    ["atob(btoa('x')) + crypto.randomUUID().length + crypto.getRandomValues(new Uint8Array(4)).length", "x364"],
    [
      "let n = 0; await new Promise((r) => { const t = setInterval(() => { n += 1; " +
        "if (n === 3) { clearInterval(t); setTimeout(r, 5); } }, 1); }); n",
      3,
    ],
    ["setInterval(() => {}, 1); 'ends'", "ends"],
  ])("%s", async (code, value) => {
    expect(valueOf(await run({ code }))).toEqual(value);
  });

  test("has no globals of the host", async () => {
    const names = [
      "process",
      "Buffer",
      "fetch",
      "WebSocket",
      "Worker",
      "Deno",
      "WebAssembly",
      "std",
      "os",
      "global",
      "module",
      "exports",
      "__dirname",
      "host",
    ];
    const code =
      `[${names.map((name) => `typeof ${name}`).join(", ")}, Object.getOwnPropertyNames(globalThis).some((n) => ` +
      "/quick|wasm|toolyard/i.test(n)), Function('return this')() === globalThis]";
    expect(valueOf(await run({ code }))).toEqual([...names.map(() => "undefined"), false, true]);
  });

  test("S9: a host function in a stack trace gives the code no access", async () => {
    const code = `
      Error.prepareStackTrace = (_error, sites) => sites.map((site) => site.getFunction());
      let host;
      try { files.read('none') } catch (e) { host = e.stack.find((each) => each?.name === 'host') }
      const words = [typeof host];
      for (const operation of ['call', 'search', 'constructor', 'file.text']) {
        try { words.push(host(operation, '1', 'a\\n{}')) } catch (e) { words.push(e.message) }
      }
      words`;
    const outcome = await run({ code, profile: "restricted" });
    expect(valueOf(outcome)).toEqual([
      "function",
      "There are no tools here.",
      "There are no tools here.",
      "The host has no such operation.",
      expect.stringContaining("no file"),
    ]);
    expect(outcome.toolCalls).toEqual([]);
  });
});
