// Tools of each kind that the hub runs receive integers beyond 2^53 exactly and return them exactly.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseExact, stringifyExact } from "../../packages/toolyard/src/core/json/exact-json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { ToolFolder } from "../support/tool-folder.ts";

const IDS = "[1,9007199254740993,-9007199254740993,18446744073709551615,123456789012345678901234567890]";
/** Expected results of each tool: its ids, each id plus 1, and another tool's result for these ids. */
const EXPECTED =
  `{"ids":${IDS},"more":[2,9007199254740994,-9007199254740992,18446744073709551616,123456789012345678901234567891],` +
  `"through":{"ids":${IDS}}}`;

const folder = new ToolFolder();
let hub: LibraryHub;

const schema = { type: "object", properties: { ids: { type: "array", items: { type: "integer" } } } };
const description = (name: string, run: object = {}): string =>
  JSON.stringify({ name, description: `The tool ${name}.`, input_schema: schema, ...run });
const PARAMETERS = '[parameters.ids]\ntype = "array:integer"\n';

const PYTHON_MODULE = `from typing import Any

def register_tools(hub):
    def answer(args):
        ids = args["ids"]
        return {"ids": ids, "more": [one + 1 for one in ids], "through": {"ids": ids}}

    hub.register_tool("py.ids", answer, {"type": "object", "properties": {"ids": {"type": "array"}}}, "Returns ids.")
`;
const JS_MODULE = `export function registerTools(hub) {
  hub.registerTool("same", (args) => args, {}, "Returns its arguments.");
  hub.registerTool("js.ids", ({ ids }) => ({ ids, more: ids.map((id) => BigInt(id) + 1n), through: { ids } }),
    { ids: { type: "array", items: { type: "integer" } } }, "Returns ids.");
  hub.registerTool("js.types", ({ ids }) => ids.map((id) => typeof id), {}, "Returns types.");
  hub.registerTool("js.text", ({ ids }) => "" + ids.at(-1), {}, "Returns a text.");
}
`;
const JS_FILE = `export const execute = async ({ ids }, lollms_client_instance) => ({
  ids,
  more: ids.map((id) => BigInt(id) + 1n),
  through: await lollms_client_instance.call_tool("same", { ids }),
});
`;
const PY_FILE = `def execute(params, lollms_client_instance):
    ids = params["ids"]
    through = lollms_client_instance.call_tool("same", {"ids": ids})
    return {"ids": ids, "more": [one + 1 for one in ids], "through": through}
`;
const PY_SCRIPT = `#!/usr/bin/env python3
import json, os, sys
ids = json.load(sys.stdin)["ids"]
assert json.loads(os.environ["TOOL_ARG_IDS"]) == ids
print(json.dumps({"ids": ids, "more": [one + 1 for one in ids], "through": {"ids": ids}}))
`;
const JS_SCRIPT = `import { get, callTool, returnObject } from "toolyard/script";
const ids = get("ids");
returnObject({ ids, more: ids.map((id) => BigInt(id) + 1n), through: await callTool("same", { ids }) });
`;
const SHELL_SCRIPT = `printf '{"ids":%s,"more":[2,9007199254740994,-9007199254740992,18446744073709551616,123456789012345678901234567891],"through":{"ids":%s}}' "$TOOL_ARG_IDS" "$1"\n`;

beforeAll(async () => {
  folder.write("mods/js/mcp.mjs", JS_MODULE);
  folder.write("mods/py/mcp.py", PYTHON_MODULE);
  for (const [name, run] of [
    ["fresh", {}],
    ["warm", { run: { mode: "warm" } }],
  ] as const) {
    folder.write(`folders/js_${name}/js_${name}.mcp.json`, description(`js_${name}`, run));
    folder.write(`folders/js_${name}/js_${name}.mjs`, JS_FILE);
    folder.write(`folders/py_${name}/py_${name}.mcp.json`, description(`py_${name}`, run));
    folder.write(`folders/py_${name}/py_${name}.py`, PY_FILE);
  }
  const script = (name: string, file: string, text: string, toml = ""): void => {
    folder.write(`scripts/${name}/${file}`, text, 0o755);
    const head = `name = "${name}"\ndescription = "Tool ${name}."\nscript = "${file}"\n`;
    folder.write(`scripts/${name}/tool.toml`, `${head}${toml}${PARAMETERS}`);
  };
  script("py_script", "run.py", PY_SCRIPT);
  script("js_script", "run.mjs", JS_SCRIPT);
  script("sh_script", "run.sh", SHELL_SCRIPT, 'args = ["{ids}"]\n');
  hub = await createHub({
    variables: { ...process.env, TOOLYARD_HOME: `${folder.path}/home` },
    settings: {
      modules: { paths: [`${folder.path}/mods`] },
      folders: { tools_path: `${folder.path}/folders` },
      scripts: { tools_path: `${folder.path}/scripts` },
    },
    logger: SILENT_LOGGER,
  });
  await hub.list();
}, 60_000);

afterAll(async () => {
  await hub?.close();
  folder[Symbol.dispose]();
});

const callIds = (tool: string) => hub.call(tool, { ids: parseExact(IDS) });

describe("integers beyond 2^53", () => {
  test.each(["js.ids", "py.ids", "js_fresh", "js_warm", "py_fresh", "py_warm", "py_script", "js_script", "sh_script"])(
    "are exact in arguments, results and nested calls of %s",
    async (tool) => {
      for (let round = 0; round < 2; round += 1) {
        const outcome = await callIds(tool);
        expect(outcome).toMatchObject({ ok: true });
        expect(stringifyExact(outcome.ok && outcome.result["structuredContent"])).toBe(EXPECTED);
        const [{ text = "" } = {}] = outcome.ok ? (outcome.result["content"] as { text?: string }[]) : [];
        expect(stringifyExact(parseExact(text))).toBe(EXPECTED);
      }
    },
  );

  test("reach a function as bigint, and safe integers as number", async () => {
    expect(await callIds("js.types")).toMatchObject({
      result: { content: [{ text: '["number","bigint","bigint","bigint","bigint"]' }] },
    });
  });

  test("are converted to text with all their digits", async () => {
    expect(await callIds("js.text")).toMatchObject({
      result: { content: [{ text: "123456789012345678901234567890" }] },
    });
  });

  test.each([
    [
      "python",
      "ids = inputs['ids']\n{'ids': ids, 'more': [one + 1 for one in ids], 'through': await tools['same'](ids=ids)}",
    ],
    [
      "javascript",
      "const { ids } = inputs;\n({ ids, more: ids.map((id) => BigInt(id) + 1n), through: await tools.same({ ids }) })",
    ],
  ])("are exact in inputs, tool calls and results of execute_code in %s", async (language, code) => {
    const outcome = await hub.call("execute_code", { language, code, inputs: { ids: parseExact(IDS) } });
    const content = outcome.result?.["structuredContent"] as Record<string, unknown>;
    expect(content).toMatchObject({ ok: true });
    expect(stringifyExact(content["result"])).toBe(EXPECTED);
  });
});
