// A toolyard.toml in a downloaded folder may start any program, so each command that finds it asks the user once.
import { chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { foreignFile } from "../../packages/toolyard/src/config/accepted-files.ts";
import { CONFIG_SCHEMA } from "../../packages/toolyard/src/hub/schema.ts";
import { CLI } from "../support/serve-child.ts";
import { runCommand, type Ran, type RunWish } from "../security/command.ts";

/** A server that writes a file when it starts, and lists one tool. */
const SERVER = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
appendFileSync(process.argv[2], "started\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const tools = [{ name: "echo", inputSchema: { type: "object" } }];
  const answers = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "said" }] },
  };
  const result = answers[method];
  const reply = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }) + "\\n");
});
`;

let root: string;
let yard: string;
let mark: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "toolyard-foreign-"));
  yard = join(root, "clone");
  mark = join(root, "mark");
  await mkdir(join(yard, ".git"), { recursive: true });
  await writeFile(join(root, "server.mjs"), SERVER);
  await write();
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(more = ""): Promise<void> {
  const command = JSON.stringify([process.execPath, join(root, "server.mjs"), mark]);
  await writeFile(join(yard, "toolyard.toml"), `[mcp.stdio_servers.evil]\ncommand = ${command}\n${more}`);
}

function run(words: readonly string[], wish: RunWish = {}): Promise<Ran> {
  const env = { TOOLYARD_HOME: join(root, "home"), PATH: process.env["PATH"] ?? "" };
  return runCommand(words, env, { cwd: yard, ...wish });
}

/** A user at a terminal who always gives the same answer, and the questions that were asked. */
function person(answer: boolean): RunWish & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    isTerminal: true,
    asked,
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
  };
}

const COMMANDS: readonly (readonly string[])[] = [
  ["list"],
  ["search", "echo"],
  ["call", "evil__echo"],
  ["check"],
  ["config"],
  ["serve", "--port", "0"],
  ["core", "list"],
  ["disable", "evil"],
];

describe("at a terminal", () => {
  test.each(COMMANDS.map((words) => [words]))(
    "`%s` asks first, and starts nothing if the user declines",
    async (words) => {
      const nobody = person(false);
      const { code, stderr } = await run(words, nobody);
      expect(nobody.asked).toHaveLength(1);
      expect(code).not.toBe(0);
      expect(stderr).toContain("is inside of a git work tree");
      expect(stderr).toContain(`[mcp.stdio_servers.evil] ${process.execPath}`);
      expect(existsSync(mark)).toBe(false);
    },
  );

  test("asks once, and again when the programs to start change, but not for other changes", async () => {
    const somebody = person(true);
    expect((await run(["list"], somebody)).stdout).toContain("evil__echo");
    await run(["call", "evil__echo"], somebody);
    await write('visibility = "ondemand"\n');
    await run(["check"], somebody);
    expect(somebody.asked).toHaveLength(1);
    await write('args = ["--more"]\n');
    await run(["list"], somebody);
    expect(somebody.asked).toHaveLength(2);
  });

  test.each([
    ["a variable", 'env = { NODE_OPTIONS = "--inspect" }\n'],
    ["a folder of modules", '[modules]\npaths = ["m"]\n'],
    ["the folder of scripts", "[scripts]\n"],
    ["a program of the sandbox", '[sandbox]\npython = "./python"\n'],
  ])("asks about an added %s", async (_name, more) => {
    await run(["list"], person(true));
    await write(more);
    const somebody = person(false);
    await run(["list"], somebody);
    expect(somebody.asked).toHaveLength(1);
  });

  test("shows no values of variables", async () => {
    await write('env = { KEY = "s3cret" }\n');
    const { stdout, stderr } = await run(["list"], person(false));
    expect(stdout + stderr).not.toContain("s3cret");
  });

  test("does not ask about the user's own file outside a work tree, nor about a file that starts nothing", async () => {
    const nobody = person(false);
    await writeFile(join(yard, "toolyard.toml"), "[limits]\n");
    expect((await run(["list"], nobody)).code).toBe(0);
    await write();
    await rm(join(yard, ".git"), { recursive: true });
    expect((await run(["list"], nobody)).stdout).toContain("evil__echo");
    expect(nobody.asked).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)("asks about a file that belongs to another user, in any folder", async () => {
    await rm(join(yard, ".git"), { recursive: true });
    await chown(join(yard, "toolyard.toml"), 12_345, 12_345);
    const nobody = person(false);
    expect((await run(["list"], nobody)).stderr).toContain("belongs to another user");
    expect(nobody.asked).toHaveLength(1);
  });

  test.each([[["--yes"]], [["--config", "toolyard.toml"]]])("%s accepts the file permanently", async (words) => {
    const nobody = person(false);
    expect((await run(["list", ...words], nobody)).stdout).toContain("evil__echo");
    expect((await run(["list"], nobody)).stdout).toContain("evil__echo");
    expect(nobody.asked).toEqual([]);
  });
});

describe("files that Toolyard writes", () => {
  test("accepts a new file, and a change of an accepted one", async () => {
    const nobody = person(false);
    await rm(join(yard, "toolyard.toml"));
    await run(["add", "mine", "--", process.execPath, join(root, "server.mjs"), mark], nobody);
    expect((await run(["list"], nobody)).stdout).toContain("mine__echo");
    await run(["add", "other", "--", process.execPath, join(root, "server.mjs"), mark], nobody);
    await run(["disable", "mine"], nobody);
    expect((await run(["list"], nobody)).stdout).toContain("other__echo");
    expect(nobody.asked).toEqual([]);
  });

  test("does not ask about the file that `init` created", async () => {
    const nobody = person(false);
    await rm(join(yard, "toolyard.toml"));
    await run(["init"], nobody);
    expect((await run(["list"], nobody)).code).toBe(0);
    expect(nobody.asked).toEqual([]);
  });

  test("a change by `add` does not accept a file that was not accepted before", async () => {
    await run(["add", "mine", "--", process.execPath, "x.mjs"]);
    const nobody = person(false);
    await run(["list"], nobody);
    expect(nobody.asked).toHaveLength(1);
  });
});

describe("without a user to ask", () => {
  const IMPORTING = `
    import { appendFileSync } from "node:fs";
    appendFileSync(${JSON.stringify("MARK")}, "imported\\n");
    export default (hub) => {};
  `;

  /** Every command that would start, import or send something. */
  const REFUSED: readonly (readonly string[])[] = [
    ["list"],
    ["list", "--resources"],
    ["list", "--prompts"],
    ["search", "echo"],
    ["call", "evil__echo"],
    ["call", "execute_code", "language=javascript", "code=1"],
    ["check"],
    ["status"],
    ["resource", "file:///x"],
    ["prompt", "x"],
    ["run", "x.js"],
    ["chat", "--once", "hello"],
    ["prepare"],
    ["login"],
    ["logout", "far"],
    ["serve", "--port", "0"],
    ["serve", "--stdio"],
    ["serve", "--stdio", "--shared"],
    ["core", "list"],
    ["core", "execute", "evil__echo"],
    ["core", "resource", "file:///x"],
    ["core", "server", "--transport", "stdio"],
  ];

  beforeEach(async () => {
    await mkdir(join(yard, "modules"));
    await writeFile(join(yard, "modules", "evil.mjs"), IMPORTING.replace('"MARK"', JSON.stringify(mark)));
    await writeFile(join(yard, "x.js"), "1");
    await write('[modules]\npaths = ["modules"]\n');
  });

  test.each(REFUSED.map((words) => [words]))(
    "`%s` starts nothing, and names the command that accepts",
    async (words) => {
      const { code, stdout, stderr } = await run(words);
      expect([code, stdout]).toEqual([words[0] === "core" && words[1] !== "server" ? 1 : 2, ""]);
      expect(stderr).toContain("is inside of a git work tree, and no user has accepted the programs it starts");
      expect(stderr).toMatch(
        /accept it with `toolyard config --yes`, or with --yes on this command\. Nothing was started\./,
      );
      expect(existsSync(mark)).toBe(false);
      expect(existsSync(join(root, "home", "data", "accepted-files.json"))).toBe(false);
    },
  );

  test.each([
    ["a command from a file", '[mcp.stdio_servers.evil]\ncommand = [{ file = "c" }, { file = "s" }, { file = "m" }]\n'],
    [
      "arguments from a file",
      '[mcp.stdio_servers.evil]\ncommand = { file = "c" }\nargs = [{ file = "s" }, { file = "m" }]\n',
    ],
    ["a command from a variable", '[mcp.stdio_servers.evil]\ncommand = "${COMMAND:-x}"\n'],
    ["modules from a file", '[modules]\npaths = [{ file = "p" }]\n'],
    [
      "a table from a file before one that starts",
      '[sandbox]\npython = { file = "c" }\n[modules]\npaths = ["modules"]\n',
    ],
    ["a log from a file", '[logging]\nfile = { file = "p" }\n[modules]\npaths = ["modules"]\n'],
    [
      "an address from a file",
      '[[mcp.remote_servers]]\nalias = "r"\nurl = { file = "u" }\n[modules]\npaths = ["modules"]\n',
    ],
    ["roots from a file", '[library]\nroots = [{ file = "p" }]\n[modules]\npaths = ["modules"]\n'],
  ])("%s also requires acceptance", async (_what, text) => {
    const files = { c: process.execPath, s: join(root, "server.mjs"), m: mark, p: "modules", u: "http://127.0.0.1:9/" };
    for (const [name, content] of Object.entries(files)) await writeFile(join(yard, name), content);
    await writeFile(join(yard, "toolyard.toml"), text);
    for (const words of [["list"], ["call", "evil__echo"], ["serve", "--port", "0"]]) {
      const { code, stderr } = await run(words);
      expect([code, stderr]).toEqual([2, expect.stringContaining("no user has accepted the programs it starts")]);
      expect(existsSync(mark)).toBe(false);
    }
    const nobody = person(false);
    expect((await run(["list"], nobody)).code).toBe(2);
    expect([nobody.asked.length, existsSync(mark)]).toEqual([1, false]);
  });

  const WEIRD = [
    "1",
    "true",
    "nan",
    "1979-05-27",
    "{}",
    "{ a = 1 }",
    '{ file = "x" }',
    "[[]]",
    "[{ a = [{}] }]",
    '["", { file = "" }]',
  ];
  test("requires acceptance for any value of an option that can start something", async () => {
    const tables = [
      "mcp.stdio_servers.x",
      "modules",
      "scripts",
      "folders",
      "logging",
      "audit",
      "sandbox",
      "library",
      "gnn",
    ];
    const keys = [
      "command",
      "args",
      "env",
      "cwd",
      "paths",
      "tools_path",
      "file",
      "python",
      "roots",
      "store",
      "enabled",
    ];
    for (const table of tables)
      for (const key of keys)
        for (const value of WEIRD) {
          await write(`[${table}]\n${key} = ${value}\n`);
          const found = await foreignFile(join(yard, "toolyard.toml"), CONFIG_SCHEMA);
          expect(found?.starts.join(), `${table}.${key} = ${value}`).toContain("mcp.stdio_servers.evil");
        }
  });

  test.each([".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", ".fslckout"])(
    "treats a folder below one with %s (a file or a dangling link) as a work tree",
    async (mark_) => {
      await rm(join(yard, ".git"), { recursive: true });
      const text = await readFile(join(yard, "toolyard.toml"));
      const below = join(yard, "a", "b");
      await mkdir(below, { recursive: true });
      await writeFile(join(below, "toolyard.toml"), text);
      for (const put of [
        () => mkdir(join(yard, mark_)),
        () => writeFile(join(yard, mark_), ""),
        () => symlink(join(root, "nowhere"), join(yard, mark_)),
      ]) {
        await put();
        const { code, stderr } = await run(["list"], { cwd: below });
        expect([code, stderr]).toEqual([
          2,
          expect.stringMatching(/is inside of a \w+ work tree, and no user has accepted/),
        ]);
        await rm(join(yard, mark_), { recursive: true });
      }
      expect(existsSync(mark)).toBe(false);
    },
  );

  test("the command in the message accepts the file and starts nothing", async () => {
    expect((await run(["config", "--yes"])).code).toBe(0);
    expect(existsSync(mark)).toBe(false);
    expect((await run(["list"])).stdout).toContain("evil__echo");
  });

  test.each([[["--yes"]], [["--config", "toolyard.toml"]]])("%s accepts the file permanently", async (more) => {
    expect((await run(["call", "evil__echo", ...more])).stdout.trim()).toBe("said");
    expect((await run(["call", "evil__echo"])).stdout.trim()).toBe("said");
  });

  test("does not show the stored tool list of a server after the file has changed", async () => {
    await run(["list", "--yes"]);
    await write('args = ["--more"]\n');
    const before = await readFile(mark, "utf8");
    for (const words of [["list"], ["search", "echo"]]) expect(await run(words)).toMatchObject({ code: 2, stdout: "" });
    expect(await readFile(mark, "utf8")).toBe(before);
  });

  test("prints the refusal as JSON with --json, also at a terminal, and asks nothing", async () => {
    const nobody = person(false);
    const { code, stdout, stderr } = await run(["list", "--json"], nobody);
    expect([code, stdout]).toEqual([2, ""]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: expect.stringContaining("no user has accepted") } });
    expect(nobody.asked).toEqual([]);
  });

  test.each([["config"], ["vault", "list"], ["list", "--url", "http://127.0.0.1:9/mcp"]])(
    "`%s %s` needs no acceptance, because it starts nothing from the file",
    async (...words) => {
      const { stderr } = await run(words);
      expect(stderr).not.toContain("Nothing was started");
      expect(existsSync(mark)).toBe(false);
    },
  );

  test("a running hub does not apply an unaccepted change", async () => {
    await rm(join(yard, "modules"), { recursive: true });
    await write();
    await run(["config", "--yes"]);
    const env = { TOOLYARD_HOME: join(root, "home"), PATH: process.env["PATH"] ?? "", NO_COLOR: "1" };
    const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--json"], { cwd: yard, env });
    const exited = once(child, "exit");
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    try {
      const [started] = (await once(child.stdout, "data")) as [Buffer];
      const other = join(root, "other-mark");
      const command = JSON.stringify([process.execPath, join(root, "server.mjs"), other]);
      await write(`[mcp.stdio_servers.other]\ncommand = ${command}\n`);
      await expect.poll(() => stderr, { timeout: 30_000 }).toContain("was not applied");
      expect(stderr).toContain("no user has accepted the programs it starts");
      const { url } = JSON.parse(String(started)) as { url: string };
      const status = await (await fetch(new URL("/status", url))).json();
      expect(status).toMatchObject({
        configurationProblem: expect.stringContaining("no user has accepted the programs it starts"),
      });
      expect(existsSync(other)).toBe(false);
    } finally {
      child.kill("SIGKILL");
      await exited;
    }
  });

  test("uses a file that starts nothing, and one outside any work tree", async () => {
    await writeFile(join(yard, "toolyard.toml"), "[limits]\n");
    expect((await run(["list"])).code).toBe(0);
    await write();
    await rm(join(yard, ".git"), { recursive: true });
    expect((await run(["list"])).stdout).toContain("evil__echo");
  });
});
