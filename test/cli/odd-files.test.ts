// Unexpected files: nested without end, pipes, folders, names that change the display.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CLI } from "../support/serve-child.ts";
import { runCommand, type Ran, type RunWish } from "../security/command.ts";

const isPosix = process.platform !== "win32";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "toolyard-odd-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(name: string, text: string): string {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  return join(root, name);
}

function run(words: readonly string[], wish: RunWish = {}): Promise<Ran> {
  const env = { TOOLYARD_HOME: join(root, "home"), HOME: root, PATH: process.env["PATH"] ?? "" };
  return runCommand(words, env, { cwd: root, ...wish });
}

const DEPTH = 50_000;
const deep = (open: string, close: string, inner = ""): string => open.repeat(DEPTH) + inner + close.repeat(DEPTH);

describe("a deeply nested file", () => {
  test.each<[string, string, string]>([
    ["lists in TOML", "a.toml", `[mcp]\na = ${deep("[", "]")}\n`],
    ["inline tables in TOML", "a.toml", `a = ${deep("{ a = ", " }", "1")}\n`],
    ["a dotted key in TOML", "a.toml", `${"a.".repeat(DEPTH)}b = 1\n`],
    ["a table header in TOML", "a.toml", `[${"a.".repeat(DEPTH)}b]\nc = 1\n`],
    ["lists in JSON", "a.json", `{"mcpServers": ${deep("[", "]")}}`],
    ["objects in JSON", "a.json", `{"mcpServers": ${deep('{"a":', "}", "1")}}`],
    ["lists in JSON that do not close", "a.json", `{"mcpServers": ${"[".repeat(DEPTH)}`],
    ["a little too deep TOML", "a.toml", `a = ${"[".repeat(200)}${"]".repeat(200)}\n`],
  ])("names and refuses %s as a configuration", async (_, name, text) => {
    const file = write(name, text);
    for (const words of [
      ["list", "--config", file],
      ["check", "--config", file],
      ["config", "--config", file],
    ]) {
      const { code, stderr } = await run(words);
      expect([code, stderr]).toEqual([2, expect.stringContaining(name)]);
      expect(stderr).not.toMatch(/call stack|internal/i);
    }
  });

  test.each<[string, string]>([
    ["objects", `{"mcpServers": {"x": ${deep('{"a":', "}", "1")}}}`],
    ["lists beside the servers", `{"other": ${deep("[", "]")}, "mcpServers": {}}`],
  ])("`connect` and `import` refuse %s in a client's file", async (_, text) => {
    write(".cursor/mcp.json", text);
    const connected = await run(["connect", "cursor", "--yes"]);
    expect([connected.code, connected.stderr]).toEqual([2, expect.stringContaining("mcp.json")]);
    expect(readFileSync(join(root, ".cursor/mcp.json"), "utf8")).toBe(text);
    const imported = await run(["import", join(root, ".cursor/mcp.json")]);
    expect(imported.stderr + imported.stdout).not.toMatch(/call stack|internal/i);
  });

  test("omits a tool with a deeply nested file, and lists the other tools", async () => {
    write("tools/deep/tool.toml", `name = "deep"\ndescription = "x"\ncommand = ["echo"]\nx = ${deep("[", "]")}\n`);
    write("tools/good/tool.toml", 'name = "good"\ndescription = "x"\ncommand = ["echo"]\n');
    const { code, stdout, stderr } = await run([
      "list",
      "--config",
      write("toolyard.toml", '[scripts]\ntools_path = "tools"\n'),
    ]);
    expect(stdout).toContain("good");
    expect(code, stderr).not.toBe(70);
  });

  test("refuses deeply nested arguments of a call", async () => {
    write("tools/good/tool.toml", 'name = "good"\ndescription = "x"\ncommand = ["echo"]\n');
    const file = write("toolyard.toml", '[scripts]\ntools_path = "tools"\n');
    const { code, stderr } = await run(["call", "good", `{"a": ${deep("[", "]")}}`, "--config", file]);
    expect([code === 70, stderr]).toEqual([false, expect.not.stringMatching(/call stack/i)]);
  });
});

describe.runIf(isPosix)("a pipe without a writer", () => {
  const pipe = (name: string): string => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    execFileSync("mkfifo", [join(root, name)]);
    return join(root, name);
  };

  test("that replaces a file is refused within its time limit", async () => {
    pipe(".cursor/mcp.json");
    const named = pipe("named.toml");
    pipe("secret");
    const secret = write(
      "toolyard.toml",
      '[[mcp.remote_servers]]\nalias = "far"\nurl = "http://127.0.0.1:9/mcp"\ntoken = { file = "secret" }\n',
    );
    const [client, config, reference] = await Promise.all([
      run(["connect", "cursor", "--yes"]),
      run(["list", "--config", named]),
      run(["config", "--config", secret]),
    ]);
    for (const { stderr } of [client, config, reference])
      expect(stderr).toContain("a pipe that did not end within 5 s");
    expect([client.code, config.code]).toEqual([2, 2]);
  });
});

test.runIf(isPosix).each([
  ["logging", 'file = "pipe"\n'],
  ["audit", 'file = "pipe"\n'],
])("a pipe without a reader as the file of [%s] does not keep a hub from ending", async (table, text) => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  const config = write("toolyard.toml", `[${table}]\n${text}`);
  const env = { TOOLYARD_HOME: join(root, "home"), PATH: process.env["PATH"] ?? "", NO_COLOR: "1" };
  const child = spawn(process.execPath, [CLI, "serve", "--port", "0", "--json", "--config", config], {
    cwd: root,
    env,
  });
  const exited = once(child, "exit");
  child.stderr.resume();
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const { url } = JSON.parse(String(line)) as { url: string };
    const body = JSON.stringify({ query: "x" });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(new URL("/api/tools/tool_search", url), { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});

test.each([["vault.json"], ["key"]])("reports a folder in place of %s of the vault, with advice", async (name) => {
  mkdirSync(join(root, "home", "data", "vault", name), { recursive: true });
  const { code, stderr } = await run(["vault", "list"]);
  if (name === "key") expect(code).toBe(0);
  else expect([code, stderr]).toEqual([4, expect.stringMatching(/cannot be used \(EISDIR\).*Move the other file/)]);
});

test("`connect` moves a thousand servers, and `disconnect` restores them", async () => {
  const servers = Object.fromEntries(
    Array.from({ length: 1000 }, (_, at) => [`server-${at}`, { command: "node", args: [`s${at}.mjs`] }]),
  );
  const before = JSON.stringify({ theme: "dark", mcpServers: servers }, null, 2);
  const file = write(".cursor/mcp.json", before);
  expect(await run(["connect", "cursor", "--yes"])).toMatchObject({ code: 0, stderr: expect.any(String) });
  expect(Object.keys((JSON.parse(readFileSync(file, "utf8")) as { mcpServers: object }).mcpServers)).toEqual([
    "toolyard",
  ]);
  const own = readFileSync(join(root, "home", "toolyard.toml"), "utf8");
  expect(own.match(/^\[mcp\.stdio_servers\.server-\d+\]$/gm)).toHaveLength(1000);
  expect((await run(["disconnect", "cursor"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(before);
});

describe("names with control characters", () => {
  const NAME = "a\u202Eb\u0007c\u009Bd\nFORGED\u2066e\u001B[2Jf";
  const HIDDEN = /[\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

  const files = (): void => {
    const table = JSON.stringify(NAME);
    write(".cursor/mcp.json", JSON.stringify({ mcpServers: { [NAME]: { command: "node", args: [NAME] } } }));
    write(
      "toolyard.toml",
      `[mcp.stdio_servers.${table}]\ncommand = [${JSON.stringify(process.execPath)}, "-e", "0"]\n`,
    );
    write("servers.json", JSON.stringify({ mcpServers: { [NAME]: { url: "http://127.0.0.1:9/mcp" }, x: { no: 1 } } }));
  };

  test.each<[readonly string[]]>([
    [["connect", "cursor", "--dry-run"]],
    [["connect", "cursor", "--yes"]],
    [["connect", "cursor"]],
    [["disconnect", "cursor"]],
    [["import", "servers.json"]],
    [["import", "servers.json", "--write"]],
    [["list"]],
    [["config"]],
    [["doctor"]],
  ])("prints `%j` safely on a terminal", async (words) => {
    files();
    const asked: string[] = [];
    const { stdout, stderr } = await run(words, {
      isTerminal: true,
      ask: async (question) => {
        asked.push(question);
        return true;
      },
    });
    // The prompt has line breaks of its own, so the command escapes names before it asks.
    for (const question of asked) expect(question).not.toMatch(/^FORGED/m);
    const shown = [stdout, stderr].flatMap((text) => text.split("\n"));
    for (const line of shown) {
      expect(line).not.toContain("\u001B[2J");
      // Redrawn output contains the program's own escape sequences.
      expect(stripVTControlCharacters(line).replaceAll(/[\t\r]/g, "")).not.toMatch(HIDDEN);
      expect(line).not.toMatch(/^FORGED/);
    }
  });
});
