import { chmod, lstat, readFile, readlink, stat, symlink } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { Desk, seen } from "./harness.ts";
import { SCRIPTS } from "./files.ts";
import { SERVER } from "./small-server.ts";

const YARD = `# My yard.

[logging]   # quiet
level = "error"
`;

const yard = (desk: Desk): Promise<string> => readFile(desk.path("toolyard.toml"), "utf8");

describe("add", () => {
  test("adds a command, an address, a folder and a file below the existing entries", async () => {
    await using desk = await Desk.create({
      ...SCRIPTS,
      "toolyard.toml": YARD,
      "modules/notes/mcp.mjs": "export function registerTools() {}",
      "one.py": "def register_tools(hub):\n    pass\n",
      "folders/add/add.mcp.json": "{}",
      "folders/add/add.py": "def execute(): pass",
    });
    const add = async (...words: string[]) =>
      expect(await desk.run(["add", ...words])).toMatchObject({ code: 0, stderr: "" });
    await add("memory", "--env", "KEY=a=b", "--", "npx", "-y", "@modelcontextprotocol/server-memory");
    await add("docs", "https://docs.example/mcp", "--token-env", "DOCS_TOKEN", "-H", "X-Team: ours");
    await add("tools");
    await add("modules");
    await add("./one.py");
    await add("folders/add/add.py");
    expect(await yard(desk)).toBe(`${YARD}
[mcp.stdio_servers.memory]
command = ["npx", "-y", "@modelcontextprotocol/server-memory"]
env = { KEY = "a=b" }

[[mcp.remote_servers]]
namespace = "docs"
url = "https://docs.example/mcp"
token = "\${DOCS_TOKEN}"
headers = { X-Team = "ours" }

[scripts]
tools_path = "tools"

[modules]
paths = ["modules", "one.py"]

[folders]
tools_path = "folders/add"
`);
    expect(await desk.run(["config"])).toMatchObject({ code: 0 });
  });

  test("creates a missing toolyard.toml, for its owner only, with a working entry", async () => {
    await using desk = await Desk.create({ "server.mjs": SERVER });
    expect(await desk.run(["add", "small", "--json", "--", "node", "server.mjs"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"kind": "stdio"'),
    });
    if (process.platform !== "win32") expect((await stat(desk.path("toolyard.toml"))).mode & 0o777).toBe(0o600);
    expect(await desk.run(["call", "small__echo", "text=hi"])).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  test("adds a second script folder next to the first, in the current file unless another is named", async () => {
    await using desk = await Desk.create({
      "toolyard.toml": "[scripts]\n# the time of each\ntimeout = 5000\n",
      "more/work/tool.toml": SCRIPTS["tools/work/tool.toml"],
    });
    await desk.run(["add", "more"]);
    expect(await yard(desk)).toBe('[scripts]\n# the time of each\ntimeout = 5000\ntools_path = ["tools", "more"]\n');
  });

  test("follows a link, and keeps the mode of the file", async () => {
    if (process.platform === "win32") return expect(true).toBe(true);
    await using desk = await Desk.create({ "dotfiles/yard.toml": YARD });
    await chmod(desk.path("dotfiles/yard.toml"), 0o644);
    await symlink("dotfiles/yard.toml", desk.path("toolyard.toml"));
    await desk.run(["add", "a", "--", "x"]);
    expect(await readlink(desk.path("toolyard.toml"))).toBe("dotfiles/yard.toml");
    expect((await lstat(desk.path("dotfiles/yard.toml"))).mode & 0o777).toBe(0o644);
    expect(await yard(desk)).toContain("[mcp.stdio_servers.a]");
  });

  test("warns about a program that does not exist on this machine", async () => {
    await using desk = await Desk.create();
    const add = (...words: string[]) => desk.run(["add", ...words]);
    expect(await add("a", "no-such-program --stdio")).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/warning: Command `no-such-program` was not found in .* of PATH\. Install it/),
    });
    expect(await add("b", "--", "node", "server.mjs")).toMatchObject({ code: 0, stderr: "" });
  });

  test("keeps the entries of several concurrent commands", async () => {
    await using desk = await Desk.create({ "toolyard.toml": YARD });
    await Promise.all(["a", "b", "c"].map((name) => desk.run(["add", name, "--", "x"])));
    const text = await yard(desk);
    expect(text.startsWith(YARD)).toBe(true);
    expect(text.match(/^\[mcp\.stdio_servers\./gm)?.length).toBe(3);
  });

  test.each([
    {
      name: "a name that is taken",
      toml: '[mcp.stdio_servers.a]\ncommand = "x"\n',
      words: ["a", "--", "y"],
      says: /The name "a" is taken by another server in .*toolyard\.toml/,
    },
    {
      name: "a name of a server at an address",
      toml: '[[mcp.remote_servers]]\nnamespace = "a"\nurl = "https://a.example"\n',
      words: ["a", "--", "y"],
      says: /is taken/,
    },
    {
      name: "nothing of that name to add",
      toml: "",
      words: ["nowhere"],
      says: /There is no file or folder nowhere\. .*toolyard add <name> -- <command>/,
    },
    { name: "a folder without tools", toml: "", words: ["."], says: /holds no tools: there is no tool\.toml/ },
    { name: "no valid TOML", toml: "[server]\nport = = 1\n", words: ["a", "--", "y"], says: /toolyard\.toml:2:/ },
    {
      name: "servers in braces",
      toml: 'mcp = { stdio_servers = { b = { command = "x" } } }\n',
      words: ["a", "--", "y"],
      says: /cannot be edited automatically/,
    },
    {
      name: "an option of the other kind",
      toml: "",
      words: ["a", "https://a.example/mcp", "--env", "K=v"],
      says: /--env and --cwd are for a server that is started here/,
    },
    {
      name: "an address without its beginning",
      toml: "",
      words: ["a", "a.example/mcp"],
      says: /begins with https:\/\/ or http:\/\/: toolyard add a https:\/\/a\.example\/mcp/,
    },
    {
      name: "an address of another kind",
      toml: "",
      words: ["a", "htpps://a.example/mcp"],
      says: /begins with htpps:\/\/, not https:\/\/ or http:\/\//,
    },
    { name: "JSON", toml: '{"mcpServers": {}}', words: ["a", "--", "y"], says: /is JSON, .*toolyard import/ },
  ])("refuses $name, and does not change the file", async ({ toml, words, says }) => {
    await using desk = await Desk.create({ "toolyard.toml": toml });
    expect(await desk.run(["add", ...words])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(says),
    });
    expect(await yard(desk)).toBe(toml);
  });

  test("refuses a file that may not be written", async () => {
    if (process.platform === "win32" || process.getuid?.() === 0) return expect(true).toBe(true);
    await using desk = await Desk.create({ "toolyard.toml": YARD });
    await chmod(desk.path("toolyard.toml"), 0o444);
    expect(await desk.run(["add", "a", "--", "x"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("cannot be written (EACCES)"),
    });
    expect(await yard(desk)).toBe(YARD);
  });
});

describe("remove, enable, disable", () => {
  const SERVERS = `${YARD}
# Notes
[mcp.stdio_servers.notes] # ours
command = "x"
[mcp.stdio_servers.notes.env]
KEY = "v"

# The web
[[mcp.remote_servers]]
url = "https://web.example/mcp"
`;

  test("disables and enables a server, and keeps every comment", async () => {
    await using desk = await Desk.create({ "toolyard.toml": SERVERS });
    expect((await desk.run(["disable", "notes"])).stdout).toMatch(/^notes is disabled now/);
    expect(await yard(desk)).toBe(SERVERS.replace('command = "x"\n', 'command = "x"\nenabled = false\n'));
    expect((await desk.run(["disable", "notes"])).stdout).toMatch(/^notes is disabled already/);
    await desk.run(["disable", "web.example"]);
    expect(await yard(desk)).toContain('web.example/mcp"\nenabled = false\n');
    await desk.run(["enable", "notes"]);
    await desk.run(["enable", "web.example"]);
    expect(await yard(desk)).toBe(SERVERS);
  });

  test("keeps the `enabled` line if a comment describes it, and sets it to true", async () => {
    const text = '[mcp.stdio_servers.a]\ncommand = "x"\n# as long as it is broken\nenabled = false';
    await using desk = await Desk.create({ "toolyard.toml": text });
    await desk.run(["enable", "a"]);
    expect(await yard(desk)).toBe(text.replace("false", "true"));
  });

  test("removes a server with its tables; removes a folder from its list", async () => {
    await using desk = await Desk.create({ "toolyard.toml": `${SERVERS}\n[modules]\npaths = ["a", "b"]\n` });
    await desk.run(["remove", "notes"]);
    await desk.run(["remove", "a"]);
    expect(await yard(desk)).toBe(
      `${YARD}\n${SERVERS.slice(SERVERS.indexOf("# The web"))}\n[modules]\npaths = ["b"]\n`,
    );
    await desk.run(["remove", "./b"], { cwd: desk.folder });
    expect(await yard(desk)).not.toContain("[modules]");
  });

  test("refuses an unknown name and suggests the nearest", async () => {
    await using desk = await Desk.create({ "toolyard.toml": SERVERS });
    for (const command of ["remove", "enable", "disable"])
      expect(await desk.run([command, "note"])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/There is no server "note" in .*Did you mean "notes"\?/),
      });
    await using empty = await Desk.create();
    expect(await empty.run(["remove", "a"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no toolyard.toml here"),
    });
  });

  test("a running hub applies every change", async () => {
    await using desk = await Desk.create({
      "server.mjs": SERVER,
      "toolyard.toml": '[logging]\nlevel = "info"\nformat = "json"\n',
    });
    const hub = desk.start(["serve", "--port", "0", "--json"]);
    const url = JSON.parse((await seen(hub.stdout!, /^\{.*\}$/m))[0]).url as string;
    const taken = (change: string) => seen(hub.stderr!, new RegExp(`applied.*"${change}":\\["small"\\]`));
    const tools = async () => (await desk.run(["list", "--url", url])).stdout;
    const change = async (kind: string, ...words: string[]) => {
      const heard = taken(kind);
      await desk.run(words);
      await heard;
    };
    await change("added", "add", "small", "--", "node", "server.mjs");
    expect(await tools()).toContain("small__echo");
    await change("changed", "disable", "small");
    expect(await tools()).not.toContain("small__echo");
    await change("changed", "enable", "small");
    expect(await tools()).toContain("small__echo");
    await change("removed", "remove", "small");
    expect(await tools()).not.toContain("small__echo");
  });
});
