import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A fenced block of a page. */
export interface Snippet {
  readonly language: string;
  readonly text: string;
  /** Line of the fence, counted from 1. */
  readonly line: number;
  /** Name of the file, from a comment in the block's first line such as `# tools/greet/tool.toml`. */
  readonly file?: string;
  /** True before the page's first `## `. */
  readonly opening: boolean;
  /** Text of the last `## ` heading before the block; empty in the opening. */
  readonly section: string;
}

const FILE_NAME = /^(?:#|\/\/) ((?:[\w.-]+\/)*[\w.-]+\.\w+)(?: .*)?$/;

/** Returns all fenced blocks of a Markdown text, in order. */
export function readSnippets(markdown: string): Snippet[] {
  const snippets: Snippet[] = [];
  let fence: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined;
  let section = "";
  for (const [index, line] of markdown.split("\n").entries()) {
    if (fence && line === "```") {
      snippets.push(toSnippet(fence, section));
      fence = undefined;
    } else if (fence) fence.lines.push(line);
    else if (line.startsWith("```")) fence = { language: line.slice(3).trim(), line: index + 1, lines: [] };
    else if (line.startsWith("## ")) section = line.slice(3);
  }
  return snippets;
}

function toSnippet(
  { language, line, lines }: { language: string; line: number; lines: readonly string[] },
  section: string,
): Snippet {
  const file = FILE_NAME.exec(lines[0] ?? "")?.[1];
  return {
    language,
    line,
    text: `${lines.join("\n")}\n`,
    section,
    opening: section === "",
    ...(file === undefined ? {} : { file }),
  };
}

/** Ports in pages: that of the hub, and that of the example server on HTTP. */
const PORTS = ["8808", "3001"] as const;

/**
 * A folder in which the blocks of one page run, with `toolyard` on PATH and the packages of this checkout. The ports of
 * the page are replaced by free ones.
 */
export class SnippetFolder implements AsyncDisposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-docs-")));
  readonly #ports: ReadonlyMap<string, string>;
  readonly #env: NodeJS.ProcessEnv;
  /** Process groups in which a block may have left processes running. */
  readonly #groups: number[] = [];

  private constructor(ports: ReadonlyMap<string, string>) {
    this.#ports = ports;
    const bin = join(this.path, ".bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "toolyard"),
      `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "packages/toolyard/dist/cli/main.js")}" "$@"\n`,
    );
    chmodSync(join(bin, "toolyard"), 0o755);
    // With this link, `npx -y <package>` uses the installed packages and contacts no registry.
    symlinkSync(join(ROOT, "node_modules"), join(this.path, "node_modules"));
    this.#env = {
      PATH: [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      HOME: this.path,
      TOOLYARD_HOME: join(this.path, ".home"),
      TOOLYARD_SERVER_PORT: ports.get("8808"),
      npm_config_offline: "true",
    };
  }

  static async create(): Promise<SnippetFolder> {
    const free = await Promise.all(PORTS.map(async (port) => [port, await freePort()] as const));
    return new SnippetFolder(new Map(free));
  }

  /**
   * Writes the files that the blocks name, runs the other blocks in order, and compares the output with each `text`
   * block.
   */
  async run(snippets: readonly Snippet[]): Promise<void> {
    let output = "";
    for (const snippet of snippets) {
      if (snippet.language === "text") assertOutput(output, this.#fit(snippet.text), snippet);
      else if (snippet.file !== undefined) this.#write(snippet.file, snippet);
      else if (snippet.language === "sh") output = await this.#spawn("sh", ["-ec", this.#fit(snippet.text)], snippet);
      else if (snippet.language === "ts") output = await this.#program(snippet);
      else
        throw new Error(
          `line ${snippet.line}: a block of \`${snippet.language}\` can be run only if its first line names its file`,
        );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#groups.map(endGroup));
    rmSync(this.path, { recursive: true, force: true });
  }

  #fit(value: string): string {
    return [...this.#ports].reduce((text, [named, free]) => text.replaceAll(named, free), value);
  }

  #write(file: string, snippet: Snippet): void {
    const path = join(this.path, file);
    mkdirSync(dirname(path), { recursive: true });
    // JSON has no comments, so the line with the name is removed.
    const content = file.endsWith(".json") ? snippet.text.slice(snippet.text.indexOf("\n") + 1) : snippet.text;
    writeFileSync(path, this.#fit(content));
  }

  #program(snippet: Snippet): Promise<string> {
    const path = join(this.path, `snippet-${snippet.line}.ts`);
    writeFileSync(path, this.#fit(snippet.text));
    return this.#spawn(
      process.execPath,
      ["--import", join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js"), path],
      snippet,
    );
  }

  // Output goes to a file: background processes that a block leaves running would keep a pipe open.
  async #spawn(command: string, args: readonly string[], { line }: Snippet): Promise<string> {
    const log = join(this.path, `.out-${line}`);
    const file = openSync(log, "w");
    const child = spawn(command, args, {
      cwd: this.path,
      env: this.#env,
      stdio: ["ignore", file, file],
      timeout: RUN_WITHIN_MS,
      detached: true,
    });
    closeSync(file);
    if (child.pid !== undefined) this.#groups.push(child.pid);
    const [code] = (await once(child, "exit")) as [number | null];
    const output = readFileSync(log, "utf8");
    if (code !== 0) throw new Error(`the block at line ${line} ended with ${String(code)}\n${output}`);
    return output;
  }
}

/** Ends a process group and waits for it; its hubs end their own children. */
async function endGroup(group: number): Promise<void> {
  for (let waitedMs = 0; isGroupAlive(group); waitedMs += POLL_MS) {
    if (waitedMs === 0 || waitedMs === END_WITHIN_MS) process.kill(-group, waitedMs === 0 ? "SIGTERM" : "SIGKILL");
    await new Promise((done) => void setTimeout(done, POLL_MS));
  }
}

function isGroupAlive(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

const POLL_MS = 20;
const END_WITHIN_MS = 5000;
/** Time limit of a page: it starts dozens of programs, and each takes seconds on a busy machine. */
export const RUN_WITHIN_MS = 300_000;

/** Asserts that the output contains each line of the block; `…` matches any text. */
function assertOutput(output: string, expected: string, { line }: Snippet): void {
  const plain = output.split("\n").map((one) => one.trimEnd());
  for (const wanted of expected.trimEnd().split("\n")) {
    const pattern = new RegExp(
      `^${wanted
        .trimEnd()
        .split("…")
        .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
        .join(".*")}$`,
    );
    if (!plain.some((one) => pattern.test(one)))
      throw new Error(`the output before the block at line ${line} has no line\n${wanted}\nbut\n${output}`);
  }
}

export function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}
