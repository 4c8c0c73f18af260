import type { NewTool } from "./new-tool.ts";

/** Purpose of every new tool until the user changes it. */
export const PURPOSE = "Counts the words of a text";
export const SAMPLE = "to be or not to be";
export const SAMPLE_WORDS = 6;

function manifest(name: string, script: string): string {
  return `name = "${name}"
description = "${PURPOSE}"
script = "${script}"

[parameters.text]
type = "string"
description = "The text"
required = true
`;
}

export function pythonScript(name: string): NewTool {
  const test = `test_${name.replaceAll("-", "_")}.py`;
  return {
    tool: name,
    test: `python3 {folder}/${test}`,
    files: {
      "tool.toml": manifest(name, `${name}.py`),
      [`${name}.py`]: `import json
import sys

arguments = json.load(sys.stdin)
print(json.dumps({"words": len(arguments["text"].split())}))
`,
      [test]: `import json
import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).with_name("${name}.py")


class Test(unittest.TestCase):
    def test_words_are_counted(self):
        arguments = json.dumps({"text": "${SAMPLE}"})
        ran = subprocess.run([sys.executable, str(SCRIPT)], input=arguments, capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(ran.stdout), {"words": ${SAMPLE_WORDS}})


unittest.main()
`,
    },
  };
}

export function nodeScript(name: string): NewTool {
  return {
    tool: name,
    test: `node --test {folder}/${name}.test.mjs`,
    files: {
      "tool.toml": manifest(name, `${name}.mjs`),
      [`${name}.mjs`]: `import { readFileSync } from "node:fs";

const { text } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({ words: text.split(/\\s+/).filter(Boolean).length }));
`,
      [`${name}.test.mjs`]: `import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("words are counted", () => {
  const script = fileURLToPath(new URL("${name}.mjs", import.meta.url));
  const input = JSON.stringify({ text: "${SAMPLE}" });
  assert.deepEqual(JSON.parse(execFileSync(process.execPath, [script], { input })), { words: ${SAMPLE_WORDS} });
});
`,
    },
  };
}

/** Creates a TypeScript tool. Its test calls it through the hub, which runs TypeScript on every Node version. */
export function typescriptScript(name: string): NewTool {
  return {
    tool: name,
    test: `node --test {folder}/${name}.test.mjs`,
    files: {
      "tool.toml": manifest(name, `${name}.ts`),
      [`${name}.ts`]: `import { readFileSync } from "node:fs";

interface Arguments {
  readonly text: string;
}

const { text } = JSON.parse(readFileSync(0, "utf8")) as Arguments;
console.log(JSON.stringify({ words: text.split(/\\s+/).filter(Boolean).length }));
`,
      [`${name}.test.mjs`]: `import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import { test } from "node:test";

// Run it where the toolyard.toml is.
test("words are counted", () => {
  const input = JSON.stringify({ text: "${SAMPLE}" });
  const { structuredContent } = JSON.parse(execSync("toolyard call ${name} - --json", { input }));
  assert.deepEqual(structuredContent, { words: ${SAMPLE_WORDS} });
});
`,
    },
  };
}

export function shellScript(name: string): NewTool {
  return {
    tool: name,
    test: "sh {folder}/test.sh",
    files: {
      "tool.toml": manifest(name, `${name}.sh`),
      [`${name}.sh`]: `# Each argument is a variable; all of them are JSON on standard input, too.
words=$(printf %s "$TOOL_ARG_TEXT" | wc -w)
printf '{"words": %d}\\n' "$words"
`,
      "test.sh": `cd "$(dirname "$0")" || exit 1
answer=$(TOOL_ARG_TEXT="${SAMPLE}" sh ${name}.sh)
[ "$answer" = '{"words": ${SAMPLE_WORDS}}' ] || { echo "not as expected: $answer"; exit 1; }
echo ok
`,
    },
  };
}
