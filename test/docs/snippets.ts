import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A fenced block of a page. */
export interface Snippet {
  readonly language: string;
  readonly text: string;
  /** Of the fence, counted from 1. */
  readonly line: number;
  /** Named by the block's first line, a comment such as `# tools/greet/tool.toml`. */
  readonly file?: string;
  /** It stands before the page's first `## `. */
  readonly opening: boolean;
}

const FILE_NAME = /^(?:#|\/\/) ((?:[\w.-]+\/)*[\w.-]+\.\w+)(?: .*)?$/;

/** All fenced blocks of a Markdown text, in order. */
export function readSnippets(markdown: string): Snippet[] {
  const snippets: Snippet[] = [];
  let fence: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined;
  let opening = true;
  for (const [index, line] of markdown.split("\n").entries()) {
    if (fence && line === "```") {
      snippets.push(toSnippet(fence, opening));
      fence = undefined;
    } else if (fence) fence.lines.push(line);
    else if (line.startsWith("```")) fence = { language: line.slice(3).trim(), line: index + 1, lines: [] };
    else if (line.startsWith("## ")) opening = false;
  }
  return snippets;
}

function toSnippet({ language, line, lines }: { language: string; line: number; lines: readonly string[] }, opening: boolean): Snippet {
  const file = FILE_NAME.exec(lines[0] ?? "")?.[1];
  return { language, line, text: `${lines.join("\n")}\n`, opening, ...(file === undefined ? {} : { file }) };
}

/** A folder in which the blocks of one page run, with `toolyard` on PATH and a port of its own in place of 8808. */
export class SnippetFolder implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-docs-")));
  readonly #port: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(port: number) {
    this.#port = String(port);
    const bin = join(this.path, ".bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "toolyard"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "dist/cli/main.js")}" "$@"\n`);
    chmodSync(join(bin, "toolyard"), 0o755);
    const { PATH = "", HOME = this.path } = process.env;
    this.#env = { PATH: [bin, dirname(process.execPath), PATH].join(delimiter), HOME, TOOLYARD_HOME: join(this.path, ".home"), TOOLYARD_SERVER_PORT: this.#port };
  }

  /** Writes the files that the blocks name, runs the others in their order, and holds each output against the `text` block behind it. */
  async run(snippets: readonly Snippet[]): Promise<void> {
    let output = "";
    for (const snippet of snippets) {
      if (snippet.language === "text") assertOutput(output, this.#fit(snippet.text), snippet);
      else if (snippet.file !== undefined) this.#write(snippet.file, snippet);
      else if (snippet.language === "sh") output = await this.#shell(snippet);
      else if (snippet.language === "ts") output = await this.#program(snippet);
      else throw new Error(`line ${snippet.line}: a block of \`${snippet.language}\` can be run only if its first line names its file`);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  #fit(value: string): string {
    return value.replaceAll("8808", this.#port);
  }

  #write(file: string, snippet: Snippet): void {
    const path = join(this.path, file);
    mkdirSync(dirname(path), { recursive: true });
    // JSON knows no comments.
    const content = file.endsWith(".json") ? snippet.text.slice(snippet.text.indexOf("\n") + 1) : snippet.text;
    writeFileSync(path, this.#fit(content));
  }

  /** What the block leaves running in the background ends with it. */
  #shell(snippet: Snippet): Promise<string> {
    return this.#spawn("sh", ["-ec", `trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n${this.#fit(snippet.text)}`], snippet);
  }

  #program(snippet: Snippet): Promise<string> {
    const path = join(this.path, `snippet-${snippet.line}.ts`);
    writeFileSync(path, this.#fit(snippet.text));
    return this.#spawn(process.execPath, ["--import", join(ROOT, "dist/runtimes/typescript/register.js"), path], snippet);
  }

  async #spawn(command: string, args: readonly string[], { line }: Snippet): Promise<string> {
    const child = spawn(command, args, { cwd: this.path, env: this.#env, stdio: ["ignore", "pipe", "pipe"], timeout: RUN_WITHIN_MS });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (code !== 0) throw new Error(`the block at line ${line} ended with ${String(code)}\n${stdout}\n${stderr}`);
    return stdout;
  }
}

const RUN_WITHIN_MS = 60_000;

/** Each line of the block stands in the output; `…` stands for anything. */
function assertOutput(output: string, expected: string, { line }: Snippet): void {
  const plain = output.split("\n").map((one) => one.trimEnd());
  for (const wanted of expected.trimEnd().split("\n")) {
    const pattern = new RegExp(`^${wanted.trimEnd().split("…").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join(".*")}$`);
    if (!plain.some((one) => pattern.test(one))) throw new Error(`the output before the block at line ${line} has no line\n${wanted}\nbut\n${output}`);
  }
}

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
