import type { NewTool } from "./new-tool.ts";
import { PURPOSE, SAMPLE, SAMPLE_WORDS } from "./script-files.ts";

const SCHEMA = `{
      type: "object",
      properties: { text: { type: "string", description: "The text" } },
      required: ["text"],
    }`;

/** Creates a function in the hub's own process. */
export function moduleFiles(name: string): NewTool {
  return {
    tool: `${name}.words`,
    test: "node --test {folder}/mcp.test.mjs",
    files: {
      "mcp.mjs": `export function countWords({ text }) {
  return { words: text.split(/\\s+/).filter(Boolean).length };
}

/** @param {import("toolyard").ModuleHub} hub */
export function registerTools(hub) {
  hub.registerTool({
    name: "${name}.words",
    description: "${PURPOSE}",
    schema: ${SCHEMA},
    handler: countWords,
  });
}
`,
      "mcp.test.mjs": `import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "./mcp.mjs";

test("words are counted", () => {
  assert.deepEqual(countWords({ text: "${SAMPLE}" }), { words: ${SAMPLE_WORDS} });
});
`,
    },
  };
}

/** Creates a Python function `execute` with a separate description. */
export function folderFiles(name: string): NewTool {
  const description = {
    name,
    description: PURPOSE,
    input_schema: {
      type: "object",
      properties: { text: { type: "string", description: "The text" } },
      required: ["text"],
    },
  };
  return {
    tool: name,
    test: `python3 {folder}/test_${name.replaceAll("-", "_")}.py`,
    files: {
      [`${name}.mcp.json`]: `${JSON.stringify(description, null, 2)}\n`,
      [`${name}.py`]: `def execute(params, lollms_client_instance=None):
    return {"words": len(params["text"].split())}
`,
      [`test_${name.replaceAll("-", "_")}.py`]: `import pathlib
import runpy
import unittest

execute = runpy.run_path(str(pathlib.Path(__file__).with_name("${name}.py")))["execute"]


class Test(unittest.TestCase):
    def test_words_are_counted(self):
        self.assertEqual(execute({"text": "${SAMPLE}"}), {"words": ${SAMPLE_WORDS}})


unittest.main()
`,
    },
  };
}

/** Creates an MCP server without dependencies. */
export function serviceFiles(name: string): NewTool {
  return {
    tool: `${name}__words`,
    test: "node --test {folder}/main.test.mjs",
    files: {
      "main.mjs": `// An MCP server on standard input and output: one JSON-RPC message a line.
import { createInterface } from "node:readline";

const tools = [
  {
    name: "words",
    description: "${PURPOSE}",
    inputSchema: ${SCHEMA},
    run: ({ text }) => ({ words: text.split(/\\s+/).filter(Boolean).length }),
  },
];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "${name}", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: tools.map(({ run: _run, ...tool }) => tool) }),
  "tools/call": ({ name, arguments: args = {} }) => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw Object.assign(new Error(\`Unknown tool: \${name}\`), { code: -32602 });
    const result = tool.run(args);
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
  },
};

function answer({ id, method, params = {} }) {
  if (!methods[method]) return { jsonrpc: "2.0", id,
    error: { code: -32601, message: \`Method not found: \${method}\` } };
  try {
    return { jsonrpc: "2.0", id, result: methods[method](params) };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: { code: error.code ?? -32603, message: error.message } };
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  // What has no id wants no answer.
  if (message.id !== undefined) console.log(JSON.stringify(answer(message)));
});
`,
      "main.test.mjs": `import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("words are counted", () => {
  const params = { name: "words", arguments: { text: "${SAMPLE}" } };
  const input = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const output = execFileSync(process.execPath, [fileURLToPath(new URL("main.mjs", import.meta.url))], { input });
  assert.deepEqual(JSON.parse(output).result.structuredContent, { words: ${SAMPLE_WORDS} });
});
`,
    },
  };
}
