import { expect, test } from "vitest";
import { transformTypeScript, TypeScriptError } from "./transform.ts";

function refusal(source: string): string {
  try {
    transformTypeScript(source, "/x/tool.ts");
  } catch (error) {
    if (error instanceof TypeScriptError) return error.message;
    throw error;
  }
  return "accepted";
}

test.each([
  ["a decorator", "class A {\n  @log() m() {}\n}", 2, "Decorators"],
  ["a namespace with values", "\nexport namespace A.B {\n  type T = 1;\n  export const x = 1;\n}", 2, "Namespace `A`"],
  ["a module block with a function", "module M { function f() {} }", 1, "Namespace `M`"],
  ["export =", "const a = 1;\nexport = a;", 2, "`export =`"],
  ["an import alias", "import A = B.C;\nexport const x = A;", 1, "`import x = a.b`"],
  ["an accessor member", "class A {\n\n  accessor x = 1;\n}", 3, "`accessor`"],
])("rejects %s with file and line", (_name, source, line, words) => {
  expect(refusal(source).startsWith(`tool.ts:${line}: ${words}`)).toBe(true);
});

test.each([
  ["a namespace of types", "namespace A { export interface X { a: 1 } }\nexport const y: A.X = { a: 1 };"],
  [
    "declared namespaces and modules",
    "declare namespace Z { const x: number }\ndeclare module 'm' { export const y: 1 }\n" +
      "declare global { interface W {} }",
  ],
  [
    "the words in strings, comments and expressions",
    "const s = '@foo namespace A { const x }'; // @dec\nlet namespace = { module: 1 }; " +
      "namespace.module = 2;\n/@dec/.test(s);",
  ],
  ["import = require", "import fs = require('node:fs');\nexport const x = fs;"],
])("accepts %s", (_name, source) => {
  expect(refusal(source)).toBe("accepted");
});

test("reports a syntax error with file, line and column", () => {
  expect(refusal("const a = 1;\nconst b: = 2;")).toBe(
    "tool.ts:2:10: Unexpected token. The file is not valid TypeScript up to there.",
  );
});

test("keeps line numbers", () => {
  const source =
    "type A = {\n  b: 1;\n};\nimport { type C } from './c.ts';\nconst f = (\n  x: number,\n): number => x;\n";
  expect(transformTypeScript(source, "/x/a.ts").split("\n").length).toBe(source.split("\n").length);
});
