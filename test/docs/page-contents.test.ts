// Contents of pages besides the programs that run: valid command lines, parsable code, entries as `connect` writes
// them.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { transform } from "sucrase";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../packages/toolyard/src/cli/program.ts";
import type { Io } from "../../packages/toolyard/src/cli/output/io.ts";
import { CLIENTS } from "../../packages/toolyard/src/config/connect/clients.ts";
import { readPage, readSnippets, ROOT, type Snippet } from "./snippets.ts";

const PAGES = readdirSync(join(ROOT, "docs/guide"), { recursive: true, encoding: "utf8" })
  .filter((name) => extname(name) === ".md")
  .map((name) => `docs/guide/${name}`);
const BLOCKS = PAGES.flatMap((page) =>
  readSnippets(readPage(page)).map((snippet) => ({ where: `${page}:${snippet.line}`, snippet })),
);

function blocksOf(...languages: readonly string[]): typeof BLOCKS {
  return BLOCKS.filter(({ snippet }) => languages.includes(snippet.language));
}

/** Splits a line into shell words; operators such as `|` and `;` are separate words. Comments are omitted. */
const WORDS = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'|;&()#]|(?<=\S)#)+|\|\||&&|[|;&()]|#.*$/gm;

/** Returns every `toolyard …` command of a block, without the shell's operators. */
function commandLines({ text }: Snippet): readonly (readonly string[])[] {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => {
    const commands: string[][] = [[]];
    let isTarget = false;
    for (const [word] of line.matchAll(WORDS)) {
      if (word.startsWith("#")) break;
      if (/^[|;&()]+$/.test(word)) commands.push([]);
      else if (isTarget || /^\d?[<>]+[^<>]+$/.test(word)) isTarget = false;
      else if (/^\d?[<>]+$/.test(word)) isTarget = true;
      else commands.at(-1)!.push(word.replaceAll(/^["']|["']$/g, ""));
    }
    return commands.filter(([program]) => program === "toolyard").map(([, ...words]) => words);
  });
}

async function understood(words: readonly string[]): Promise<void> {
  const io = { stdout: new PassThrough(), stderr: new PassThrough(), env: {} } as unknown as Io;
  const program = await createProgram(io, "0.0.0", { words, json: true, finish: () => {} });
  const disarm = (command: Command): void => {
    // Only commands that do something get an action; commands with subcommands have none.
    if (command.commands.length === 0) command.action(() => {});
    for (const inner of command.commands) disarm(inner);
  };
  disarm(program);
  await program.parseAsync([...words], { from: "user" });
}

describe("command lines in pages", () => {
  const lines = blocksOf("sh").flatMap(({ where, snippet }) =>
    commandLines(snippet).map((words) => ({ where, words, line: words.join(" ") })),
  );

  test.each(lines)("$where: `toolyard $line` is accepted", async ({ words }) => {
    await expect(understood(words)).resolves.toBeUndefined();
  });

  test("an unknown command or option is refused", async () => {
    const [line] = commandLines({
      language: "sh",
      line: 1,
      opening: false,
      section: "",
      text: 'x | toolyard "call" --nothing  # y',
    });
    expect(line).toEqual(["call", "--nothing"]);
    await expect(understood(line!)).rejects.toThrow("unknown option");
    await expect(understood(["library", "drow"])).rejects.toThrow("unknown command");
  });
});

describe("programs in pages", () => {
  const keys = (
    JSON.parse(readPage("packages/toolyard/package.json")) as {
      exports: Record<string, { readonly default?: string; readonly import?: string }>;
    }
  ).exports;

  test.each(blocksOf("ts", "js"))("$where can be parsed, and its imports exist", async ({ snippet }) => {
    const { text } = snippet;
    expect(() => transform(text, { transforms: ["typescript"] })).not.toThrow();
    for (const [, names = "", specifier = ""] of text.matchAll(/import (?!type )\{([^}]*)\} from "(toolyard[^"]*)"/g)) {
      const key = specifier.replace(/^toolyard/, ".");
      expect(Object.keys(keys)).toContain(key);
      const exported = (await import(
        join(ROOT, "packages/toolyard", (keys[key]?.default ?? keys[key]?.import)!)
      )) as object;
      const wanted = names.split(",").map((name) => name.trim().split(/\s+as\s+/)[0]!);
      for (const name of wanted.filter((one) => one !== "" && !one.startsWith("type ")))
        expect(exported).toHaveProperty(name);
    }
  });

  test("Python programs can be parsed", () => {
    const texts = blocksOf("python").map(({ where, snippet }) => [where, snippet.text]);
    // `await` at the top level is allowed, as in the sandbox.
    const check = "import json,sys\nfor name, text in json.load(sys.stdin): compile(text, name, 'exec', 0x2000)";
    expect(() => execFileSync("python3", ["-c", check], { input: JSON.stringify(texts) })).not.toThrow();
  });
});

describe("JSON in pages", () => {
  test.each(blocksOf("json"))("$where can be parsed", ({ snippet }) => {
    const text = snippet.file === undefined ? snippet.text : snippet.text.slice(snippet.text.indexOf("\n"));
    expect(() => void JSON.parse(text)).not.toThrow();
  });

  const MAIN = "/usr/lib/node_modules/toolyard/dist/cli/main.js";
  const hub = {
    command: "/usr/bin/node",
    args: [MAIN, "serve", "--stdio", "--shared", "--config", "/home/ada/toolyard.toml"],
    env: {},
  };

  test.each(CLIENTS.filter(({ form, id }) => form === "json" && existsSync(join(ROOT, `docs/guide/clients/${id}.md`))))(
    "$id: its page shows what `connect` writes",
    ({ id, table, entry }) => {
      const shown = readSnippets(readPage(`docs/guide/clients/${id}.md`)).find(({ language }) => language === "json");
      expect(JSON.parse(shown!.text)).toEqual({ [table]: { toolyard: entry(hub) } });
    },
  );
});
