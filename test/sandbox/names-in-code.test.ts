// Tools whose names have another meaning in a language: `search` prints how to call each, and that call works.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/hub/create-hub.ts";

const PARTS = ["import", "class", "None", "lambda", "print", "match", "then", "catch", "constructor", "prototype"];
const MORE = ["toString", "toJSON", "valueOf", "__init__", "_path", "sync", "a.sync", "arguments", "call", "length"];
const BARE = ["then", "sync", "import", "toString"];
const NAMES = [...[...PARTS, ...MORE].map((part) => `odd.${part}`), ...BARE];
const ARGUMENTS = ["self", "class", "from", "value", "__x", "max-size"];

let home: string;
let hub: LibraryHub;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "toolyard-names-"));
  hub = await createHub({
    variables: { TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
    registerTools: (tools) => {
      for (const name of NAMES) {
        const argument = ARGUMENTS[NAMES.indexOf(name) % ARGUMENTS.length]!;
        const schema = { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] };
        tools.registerTool(name, (args) => ({ name, args }), schema, `Strange ${name}.`);
      }
    },
  });
}, 60_000);

afterAll(async () => {
  await hub.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(language: string, code: string): Promise<unknown> {
  const outcome = await hub.call("execute_code", { language, code });
  const answer = outcome.result?.["structuredContent"] as JsonObject | undefined;
  expect(answer?.["error"] ?? null, `${code}\n${JSON.stringify(outcome)}`).toBeNull();
  return answer!["result"];
}

/** Returns the call for a signature, with "x" as its only argument. */
function callOf(signature: string, argument: string): string {
  const [head = ""] = signature.split("\n");
  const callee = /^tools(?:\.[\w$]+|\["(?:[^"\\]|\\.)*"\])+/.exec(head)![0];
  const given = head.slice(callee.length);
  if (given.startsWith("(args")) return `${callee}({ ${JSON.stringify(argument)}: "x" })`;
  return given.startsWith("({") ? `${callee}({${JSON.stringify(argument)}: "x"})` : `${callee}(${argument}="x")`;
}

describe.each(["python", "javascript", "typescript"])("%s", (language) => {
  test("calls each tool as `search` prints it", async () => {
    const hits = (await run(language, "await search('Strange', 100)")) as readonly JsonObject[];
    const found = new Map(hits.map(({ name, signature }) => [String(name), String(signature)]));
    expect(NAMES.filter((name) => !found.has(name))).toEqual([]);
    const calls = NAMES.map((name, at) => `await ${callOf(found.get(name)!, ARGUMENTS[at % ARGUMENTS.length]!)}`);
    const result = await run(
      language,
      language === "python" ? `[${calls.join(", ")}]` : `return [${calls.join(", ")}];`,
    );
    expect(result).toEqual(NAMES.map((name, at) => ({ name, args: { [ARGUMENTS[at % ARGUMENTS.length]!]: "x" } })));
  }, 60_000);
});

describe("a JavaScript tool named `then`", () => {
  test("can be called by its path, with and without arguments", async () => {
    const code = `return [await tools.odd.then({ self: "a" }), await tools.then({ from: "b" }),
      await tools.then().catch((error) => error.kind)];`;
    expect(await run("javascript", code)).toEqual([
      { name: "odd.then", args: { self: "a" } },
      { name: "then", args: { from: "b" } },
      "invalid_params",
    ]);
  });

  test("does not change other paths: they are awaited, returned and printed as paths", async () => {
    const code = `
      const source = await tools.odd;
      const both = await Promise.all([tools.odd, (async () => tools.odd.print)()]);
      return [String(source), String(tools.odd), \`\${both[1]}\`, JSON.stringify({ a: tools.odd }) ?? "none",
        (await source.import({ self: "x" })).name];`;
    expect(await run("javascript", code)).toEqual(["[tool odd]", "[tool odd]", "[tool odd.print]", "{}", "odd.import"]);
  });

  test("refuses a callback instead of arguments, and names the correct form", async () => {
    const code = "return await tools.odd.print.then((value) => value).catch((error) => error.message);";
    expect(await run("javascript", code)).toBe(
      "A tool takes one object, as in tools.odd.print.then({ name: value }); got a function.",
    );
  });
});
