import { mkdtempSync, realpathSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fingerprint } from "./fingerprint.ts";
import { describeImportError, importUserModule } from "./import-module.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-import-")));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function load(path: string): Promise<Record<string, unknown>> {
  return (await importUserModule(new Fingerprint(path).graph)).namespace;
}

async function failure(path: string): Promise<string> {
  return load(path).then(
    () => "imported",
    (error: unknown) => describeImportError(error, new Fingerprint(path).graph),
  );
}

test("runs types, enums and parameter properties unchanged", async () => {
  const path = write(
    "mcp.ts",
    `enum Level { Low = 1, High }
     abstract class Base<T> { constructor(protected readonly value: T) {} abstract get(): T }
     class Box extends Base<number> { get(): number { return this.value! } }
     export const answer = { level: Level[Level.High], value: new Box(7).get() } satisfies object;`,
  );
  expect((await load(path))["answer"]).toEqual({ level: "High", value: 7 });
});

test("drops an import of types only, even if its file is missing", async () => {
  const path = write(
    "mcp.ts",
    `import type { A } from "./gone.ts";\nimport { type B } from "./lib.ts";\nexport const x: A | B = 1;`,
  );
  write("lib.ts", "export type B = number;");
  expect((await load(path))["x"]).toBe(1);
});

test("resolves relative imports as .ts, as .js that means .ts, and without extension", async () => {
  const path = write(
    "mcp.ts",
    `import { a } from "./lib/a.ts"; import { b } from "./lib/b.js"; import { c } from "./lib/c"; ` +
      "export const all = a + b + c;",
  );
  write("lib/a.ts", "export const a: number = 1;");
  write("lib/b.ts", "export const b: number = 2;");
  write("lib/c/index.ts", "export const c: number = 3;");
  expect((await load(path))["all"]).toBe(6);
});

test("names importer and specifier if a relative import's file is missing", async () => {
  expect(await failure(write("mcp.ts", `import "./lib/gone.ts";`))).toBe(
    'mcp.ts imports "./lib/gone.ts", and there is no such file. Check the path.',
  );
});

test("imports a JSON file with or without its attribute", async () => {
  write("data.json", `{"n": 5}`);
  const path = write(
    "mcp.ts",
    `import data from "./data.json"; import again from "./data.json" with { type: "json" }; ` +
      "export const n: number = data.n + again.n;",
  );
  expect((await load(path))["n"]).toBe(10);
});

test("resolves a package from the user's file, and names a missing one", async () => {
  write("node_modules/tiny/package.json", `{"name":"tiny","type":"module","exports":"./index.js"}`);
  write("node_modules/tiny/index.js", `export const tiny = "found";`);
  expect((await load(write("good.ts", `export { tiny } from "tiny";`)))["tiny"]).toBe("found");
  expect(await failure(write("bad.ts", `import { x } from "@/absent"; export const y = x;`))).toMatch(
    /^bad\.ts imports "@\/absent", and no such package .* `paths` is not read\.$/u,
  );
});

test("keeps one instance of a file until it or one of its imports changes", async () => {
  const path = write(
    "mcp.ts",
    `import { state } from "./state.ts"; import { word } from "./word.ts"; export { state, word };`,
  );
  write("state.ts", "export const state: { n: number } = { n: 0 };");
  const word = write("word.ts", `export const word: string = "one";`);
  const first = await load(path);
  expect(await load(path)).toBe(first);
  const before = new Fingerprint(path);
  expect(before.check()).toBe("same");
  writeFileSync(word, `export const word: string = "two";`);
  expect(before.check()).toBe("changed");
  expect(before.check()).toBe("same");
  const second = await load(path);
  expect(second["word"]).toBe("two");
  expect(second["state"]).toBe(first["state"]);
});

test("shares the instance of a helper between two modules", async () => {
  write("shared.ts", "export const shared = {};");
  const [a, b] = [
    write("a.ts", `export { shared } from "./shared.ts"; export const a = 1;`),
    write("b.ts", `export { shared } from "./shared.ts";`),
  ];
  expect((await load(a))["shared"]).toBe((await load(b))["shared"]);
});

test("detects an edit of the same size at the same time", async () => {
  const path = write("mcp.mts", "export const n: number = 1;");
  const before = (await load(path))["n"];
  write("mcp.mts", "export const n: number = 2;");
  expect([before, (await load(path))["n"]]).toEqual([1, 2]);
});

test("detects changes in helpers of a JavaScript module, also of a CommonJS one", async () => {
  const path = write("mcp.mjs", `import { a } from "./a.js"; import b from "./b.cjs"; export const sum = a + b.b;`);
  write("package.json", `{"type":"module"}`);
  write("a.js", "export const a = 1;");
  write("b.cjs", "exports.b = 10;");
  expect((await load(path))["sum"]).toBe(11);
  write("b.cjs", "exports.b = 20;");
  expect((await load(path))["sum"]).toBe(21);
});

test("evaluates a module again on the next import if it threw", async () => {
  const path = write(
    "mcp.ts",
    "const seen = globalThis as { tries?: number }; seen.tries = (seen.tries ?? 0) + 1; " +
      `if (seen.tries === 1) throw new Error("not yet"); export const tries = seen.tries;`,
  );
  expect(await failure(path)).toBe("not yet");
  expect((await load(path))["tries"]).toBe(2);
});

test("points at the user's line in a stack trace", async () => {
  const path = write(
    "mcp.ts",
    "interface A {\n  x: number;\n}\nfunction f<\n  T\n>(x: T): never {\n  throw new Error(String(x));\n}\n" +
      "export { f };",
  );
  const { f } = (await load(path)) as { f: (x: unknown) => never };
  let stack = "";
  try {
    f("here");
  } catch (error) {
    stack = (error as Error).stack ?? "";
  }
  expect(stack).toMatch(/mcp\.ts\?v=[0-9a-f]{12}:7:\d+/u);
});

test("rejects a type re-exported as a value, and names the alternative", async () => {
  write("shape.ts", "export interface Shape { n: number }");
  expect(await failure(write("mcp.ts", `export { Shape } from "./shape.ts";`))).toMatch(
    /^mcp\.ts:1: .*does not provide an export named 'Shape'\. If the name is a type, write `import type`\.$/u,
  );
});

test("rejects a .cts and a .tsx file, and names the file and the accepted types", async () => {
  write("view.tsx", "export const v = 1;");
  write("old.cts", "export const v = 1;");
  expect(await failure(write("a.ts", `import { v } from "./view.tsx"; export const w = v;`))).toMatch(
    /^view\.tsx: only \.ts and \.mts/u,
  );
  expect(await failure(write("b.ts", `import { v } from "./old.cts"; export const w = v;`))).toMatch(
    /^old\.cts: only \.ts and \.mts/u,
  );
});

test("reports an error that only the engine finds with file and line, also in a helper", async () => {
  const path = write("mcp.ts", `import "./helper.ts";`);
  write("helper.ts", "interface A {}\nlet a: number = 1;\nlet a = 2;\nexport {};");
  expect(await failure(path)).toBe("helper.ts:3: Identifier 'a' has already been declared.");
});

test("resolves `toolyard` to the running copy from any folder", async () => {
  const { version } = await load(
    write("mcp.ts", `import { VERSION } from "toolyard"; export const version: string = VERSION;`),
  );
  expect(version).toMatch(/^\d+\.\d+\.\d+/u);
});
