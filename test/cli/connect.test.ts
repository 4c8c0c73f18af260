import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { existsSync, readdirSync } from "node:fs";
import { chmod, chown, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { run as connect, type ConnectOptions } from "../../packages/toolyard/src/cli/commands/connect.ts";
import { CLIENTS, clientFile, findClient } from "../../packages/toolyard/src/config/connect/clients.ts";
import { Desk } from "./harness.ts";
import { SERVER } from "./small-server.ts";

const TOML = '[mcp.stdio_servers.small]\ncommand = ["node", "server.mjs"]\n';
const FILES = { "server.mjs": SERVER, "toolyard.toml": TOML };

interface StdioEntry {
  readonly command: string | readonly string[];
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly environment?: Record<string, string>;
}

/** Returns the path of the client's server file on this machine, below the desk. */
function fileOf(id: string): string {
  const client = CLIENTS.find((one) => one.id === id)!;
  const path = clientFile(client, {
    variables: { HOME: "/h", USERPROFILE: "/h" },
    cwd: "/",
    platform: process.platform,
  });
  return path.replace(/^[/\\]h[/\\]/, "home/");
}

const textOf = (desk: Desk, name: string): Promise<string> => readFile(desk.path(name), "utf8");

async function serversOf(desk: Desk, id: string): Promise<Record<string, unknown>> {
  const client = CLIENTS.find((one) => one.id === id)!;
  const text = await textOf(desk, fileOf(id));
  const tree = (client.form === "toml" ? parseToml(text) : parseJsonc(text)) as Record<string, Record<string, unknown>>;
  return tree[client.table] ?? {};
}

/**
 * Starts the hub from the client's entry, as the client does: in a separate folder, without variables of this
 * environment.
 */
async function callThrough(desk: Desk, entry: StdioEntry, tool: string, args: object): Promise<unknown> {
  const words = typeof entry.command === "string" ? [entry.command, ...(entry.args ?? [])] : entry.command;
  const [command = "", ...rest] = words;
  const env = { HOME: desk.path("home"), PATH: "/usr/bin:/bin", ...(entry.env ?? entry.environment) };
  const transport = new StdioClientTransport({
    command,
    args: [...rest, "--linger", "200ms"],
    env,
    cwd: "/",
    stderr: "ignore",
  });
  const client = new Client({ name: "client", version: "1" });
  await client.connect(transport);
  try {
    return (await client.callTool({ name: tool, arguments: { ...args } })).content;
  } finally {
    await client.close();
  }
}

async function chownAll(folder: string, uid: number): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  await Promise.all([folder, ...names.map((name) => join(folder, name))].map((path) => chown(path, uid, uid)));
}

describe("connect", () => {
  test.each(CLIENTS.map(({ id }) => id))(
    "%s: a call works through the written entry, and disconnect restores the file",
    async (id) => {
      await using desk = await Desk.create(FILES);
      const client = CLIENTS.find((one) => one.id === id)!;
      const before =
        client.form === "toml"
          ? '# mine\nmodel = "m" # the best\n\n[profiles.a]\nx = 1\n'
          : '// mine\n{\n    "theme": "dark", // at night\n    "other": [1, 2,],\n}\n';
      await desk.write(fileOf(id), before);
      const { code, stdout, stderr } = await desk.run(["connect", id, "--yes"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`${client.program} is connected to ${desk.path("toolyard.toml")}`);
      const text = await textOf(desk, fileOf(id));
      for (const kept of client.form === "toml"
        ? ["# mine", "# the best", "[profiles.a]"]
        : ["// mine", "// at night", "[1, 2,]"])
        expect(text).toContain(kept);
      const entry = (await serversOf(desk, id))["toolyard"] as StdioEntry;
      expect(await callThrough(desk, entry, "small__echo", { text: "through" })).toEqual([
        { type: "text", text: "through" },
      ]);
      expect((await desk.run(["disconnect", id])).stdout).toContain(`${client.program} is disconnected`);
      expect(await textOf(desk, fileOf(id))).toBe(before);
    },
  );

  test("writes absolute paths and shares the hub, except with --own; with --http, writes an address", async () => {
    await using desk = await Desk.create(FILES);
    await desk.run(["connect", "cursor", "--yes"]);
    expect((await serversOf(desk, "cursor"))["toolyard"]).toEqual({
      command: desk.path("home/toolyard/data/bin/toolyard"),
      args: ["serve", "--stdio", "--shared", "--config", desk.path("toolyard.toml")],
      env: { TOOLYARD_HOME: desk.path("home/toolyard") },
    });
    await desk.run(["connect", "cursor", "--yes", "--own", "--mode", "discovery"]);
    expect((await serversOf(desk, "cursor"))["toolyard"]).toMatchObject({
      args: ["serve", "--stdio", "--config", desk.path("toolyard.toml"), "--tool-mode", "discovery"],
    });
    await desk.run(["connect", "cursor", "--yes", "--http"]);
    expect(await serversOf(desk, "cursor")).toEqual({ toolyard: { url: "http://127.0.0.1:8808/mcp" } });
    await desk.run(["connect", "cursor", "--yes", "--http", "--mode", "discovery", "--era", "legacy"]);
    expect(await serversOf(desk, "cursor")).toEqual({
      toolyard: { url: "http://127.0.0.1:8808/mcp?tool_mode=discovery&era=legacy" },
    });
    await desk.run(["connect", "cursor", "--yes", "--era", "legacy"]);
    expect((await serversOf(desk, "cursor"))["toolyard"]).toMatchObject({
      args: ["serve", "--stdio", "--shared", "--config", desk.path("toolyard.toml"), "--era", "legacy"],
    });
    await desk.run(["disconnect", "cursor"]);
    expect(existsSync(desk.path(fileOf("cursor")))).toBe(false);
  });

  test("a client with tool search loads the few tools of discovery mode immediately", async () => {
    await using desk = await Desk.create(FILES);
    const keys = { "claude-code": { alwaysLoad: true }, copilot: { deferTools: "never" } };
    for (const [id, key] of Object.entries(keys)) {
      const [name] = Object.keys(key);
      for (const where of [[], ["--http"]]) {
        await desk.run(["connect", id, "--yes", "--mode", "discovery", ...where]);
        expect((await serversOf(desk, id))["toolyard"]).toMatchObject(key);
        await desk.run(["connect", id, "--yes", "--mode", "normal", ...where]);
        expect((await serversOf(desk, id))["toolyard"]).not.toHaveProperty(name!);
      }
    }
  });

  test("--http with a token names a variable, never the token; reports clients without support", async () => {
    await using desk = await Desk.create({
      "toolyard.toml": '[server]\ntoken = "a-token-that-is-long-enough"\nport = 9000\n',
    });
    for (const id of ["cursor", "claude-code", "codex", "gemini", "windsurf", "vscode"])
      expect(await desk.run(["connect", id, "--yes", "--http"])).toMatchObject({ code: 0 });
    expect(await serversOf(desk, "cursor")).toEqual({
      toolyard: { url: "http://127.0.0.1:9000/mcp", headers: { Authorization: "Bearer ${env:TOOLYARD_TOKEN}" } },
    });
    expect(await serversOf(desk, "codex")).toEqual({
      toolyard: { url: "http://127.0.0.1:9000/mcp", bearer_token_env_var: "TOOLYARD_TOKEN" },
    });
    expect(await serversOf(desk, "gemini")).toMatchObject({ toolyard: { httpUrl: "http://127.0.0.1:9000/mcp" } });
    expect(await serversOf(desk, "windsurf")).toMatchObject({ toolyard: { serverUrl: "http://127.0.0.1:9000/mcp" } });
    expect(await serversOf(desk, "vscode")).toMatchObject({ toolyard: { type: "http" } });
    for (const id of ["claude", "zed"])
      expect(await desk.run(["connect", id, "--yes", "--http"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("cannot be connected so"),
      });
    expect(existsSync(desk.path(fileOf("claude")))).toBe(false);
  });

  test("moves servers to the hub, drops those it has already, and leaves invalid ones in the client", async () => {
    await using desk = await Desk.create(FILES);
    const own = {
      mcpServers: {
        fresh: { command: "node", args: [desk.path("server.mjs")], env: { KEY: "secret" } },
        small: { command: "node", args: ["server.mjs"] },
        same: { command: "node server.mjs" },
        broken: { command: "node", args: "no list" },
        nothing: {},
      },
      other: 1,
    };
    await desk.write(fileOf("cursor"), JSON.stringify(own, null, 2));
    await chmod(desk.path("toolyard.toml"), 0o644);
    const { stdout, stderr } = await desk.run(["connect", "cursor", "--yes"]);
    expect(Object.keys(await serversOf(desk, "cursor"))).toEqual(["broken", "nothing", "toolyard"]);
    expect(stdout).toMatch(/Moved to .*: fresh\./);
    expect(stdout).toMatch(/Served by .* already, and no longer by Cursor: small, same\./);
    expect(stderr).toMatch(/others on this machine may read .*toolyard\.toml.*`chmod 600`/);
    expect(stdout).toMatch(/broken stays with Cursor: .*must be a list/);
    expect(stdout).toMatch(/nothing stays with Cursor: it has neither a command nor a URL/);
    expect(stdout).not.toContain("secret");
    const toml = await textOf(desk, "toolyard.toml");
    expect(toml.startsWith(TOML)).toBe(true);
    expect(toml).toContain("# from Cursor\n[mcp.stdio_servers.fresh]\nargs");
    expect(toml).not.toMatch(/same|broken/);
    const entry = (await serversOf(desk, "cursor"))["toolyard"] as StdioEntry;
    expect(await callThrough(desk, entry, "fresh__echo", { text: "hi" })).toEqual([{ type: "text", text: "hi" }]);
    const backup = `${desk.path(fileOf("cursor"))}.before-toolyard`;
    expect(JSON.parse(await readFile(backup, "utf8"))).toEqual(own);
    if (process.platform !== "win32") expect((await stat(backup)).mode & 0o777).toBe(0o600);
  });

  test("keeps and reports a server of the same name with another command", async () => {
    await using desk = await Desk.create(FILES);
    await desk.write(fileOf("cursor"), '{"mcpServers": {"small": {"command": "uvx", "args": ["other"]}}}');
    const { stdout } = await desk.run(["connect", "cursor", "--yes"]);
    expect(stdout).toMatch(
      /small stays with Cursor: .*with another command: `node server\.mjs` there, `uvx other` here/,
    );
    expect(Object.keys(await serversOf(desk, "cursor"))).toEqual(["small", "toolyard"]);
  });

  test("hides a server of the hub only from the client whose file disables it", async () => {
    await using desk = await Desk.create(FILES);
    const off = { small: { command: "node", args: ["server.mjs"], disabled: true } };
    await desk.write(fileOf("cursor"), JSON.stringify({ mcpServers: off }));
    await desk.write(fileOf("windsurf"), "{}");
    expect(await desk.run(["connect", "cursor", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /small stays with Cursor: .*other settings.*`enabled`.*\n.*small is hidden from Cursor/,
      ),
    });
    await desk.run(["connect", "windsurf", "--yes"]);
    const entries = await Promise.all(
      ["cursor", "windsurf"].map(async (id) => (await serversOf(desk, id))["toolyard"] as StdioEntry),
    );
    const own = { ...entries[0]!, args: entries[0]!.args!.filter((word) => word !== "--shared") };
    for (const entry of [entries[0]!, own])
      expect(await callThrough(desk, entry, "small__echo", { text: "hi" })).toEqual([
        { type: "text", text: expect.stringContaining("No right to use the tool small__echo") },
      ]);
    expect(await callThrough(desk, entries[1]!, "small__echo", { text: "hi" })).toEqual([{ type: "text", text: "hi" }]);
  });

  test("refuses `--deny` without --stdio, because it limits the single client of stdio", async () => {
    await using desk = await Desk.create(FILES);
    expect(await desk.run(["serve", "--deny", "small__*"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--deny limits the one client of --stdio"),
    });
  });

  test("is idempotent, and disconnect restores the original", async () => {
    await using desk = await Desk.create(FILES);
    const before = '{\n\t"mcpServers": {\n\t\t"a": { "command": "x" }\n\t}\n}\n';
    await desk.write(fileOf("cursor"), before);
    await desk.run(["connect", "cursor", "--yes"]);
    expect((await desk.run(["connect", "cursor", "--yes"])).stdout).toContain("already");
    await desk.run(["connect", "cursor", "--yes", "--own"]);
    const folder = desk.path(fileOf("cursor")).replace(/[^/\\]+$/, "");
    expect(readdirSync(folder).toSorted()).toEqual(["mcp.json", "mcp.json.before-toolyard"]);
    expect((await desk.run(["disconnect", "cursor"])).stdout).toMatch(/Its own servers are back: a\./);
    expect(await textOf(desk, fileOf("cursor"))).toBe(before);
    expect(readdirSync(folder)).toEqual(["mcp.json"]);
    expect((await desk.run(["disconnect", "cursor"])).stdout).toContain("is not connected");
  });

  test("disconnect keeps changes that were made in between, and restores the moved servers", async () => {
    await using desk = await Desk.create(FILES);
    const file = fileOf("claude");
    await desk.write(file, '{"mcpServers": {"a": {"command": "x", "env": {"K": "v"}}}}');
    await desk.run(["connect", "claude", "--yes"]);
    await desk.write(
      file,
      (await textOf(desk, file)).replace('"mcpServers"', '/* new */ "theme": "light", "mcpServers"'),
    );
    expect((await desk.run(["disconnect", "claude"])).stdout).toMatch(
      /are back: a\..*was changed meanwhile.*before-toolyard/s,
    );
    expect(await textOf(desk, file)).toContain("/* new */");
    expect(parseJsonc(await textOf(desk, file))).toEqual({
      theme: "light",
      mcpServers: { a: { command: "x", env: { K: "v" } } },
    });
  });

  test("--dry-run shows everything, writes nothing and starts nothing", async () => {
    const marks = `import { writeFileSync } from "node:fs"; writeFileSync("started", "");\n${SERVER}`;
    await using desk = await Desk.create({ ...FILES, "server.mjs": marks });
    const before = '{"mcpServers": {"a": {"command": "x"}}}';
    await desk.write(fileOf("cursor"), before);
    const { code, stdout } = await desk.run(["connect", "cursor", "--dry-run"]);
    expect(code).toBe(0);
    expect(stdout).toContain('"--shared"');
    expect(existsSync(desk.path("started"))).toBe(false);
    expect(stdout).toMatch(/Would move to .*: a\./);
    expect(await textOf(desk, fileOf("cursor"))).toBe(before);
    expect(await textOf(desk, "toolyard.toml")).toBe(TOML);
    expect(readdirSync(desk.path(fileOf("cursor")).replace(/[^/\\]+$/, ""))).toEqual(["mcp.json"]);
  });

  test("requires --yes without a terminal; without a client's name, lists the clients", async () => {
    await using desk = await Desk.create(FILES);
    await desk.write(fileOf("cursor"), "{}");
    expect(await desk.run(["connect", "cursor"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await desk.run(["connect"])).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(/^cursor +Cursor/m),
      stderr: expect.stringContaining("toolyard connect <name>"),
    });
    expect(await desk.run(["connect", "curser", "--yes"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Did you mean cursor?"),
    });
    expect((await desk.run(["connect", "--yes"])).code).toBe(0);
    expect(Object.keys(await serversOf(desk, "cursor"))).toEqual(["toolyard"]);
    expect((await desk.run(["disconnect"])).stdout).toContain("Cursor is disconnected");
  });

  test("changes nothing anywhere if a file cannot be read", async () => {
    await using desk = await Desk.create(FILES);
    await desk.write(fileOf("cursor"), '{"mcpServers": {"a": {"command": "x"}');
    expect(await desk.run(["connect", "cursor", "--yes"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/mcp\.json:1: not valid JSON .*Nothing was changed\. Fix the file by hand first/),
    });
    await desk.write(fileOf("cursor"), '{"mcpServers": []}');
    expect(await desk.run(["connect", "cursor", "--yes"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("must be an object of servers"),
    });
    expect(await textOf(desk, "toolyard.toml")).toBe(TOML);
  });

  // Root may write any file, so the test runs as another user.
  test.runIf(process.platform !== "win32")("changes nothing anywhere if a file may not be written", async () => {
    await using desk = await Desk.create(FILES);
    const before = '{"mcpServers": {"a": {"command": "x"}}}';
    const file = await desk.write(fileOf("cursor"), before);
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    if (uid !== undefined) await chownAll(desk.folder, uid);
    await chmod(file, 0o444);
    expect(await desk.run(["connect", "cursor", "--yes"], uid === undefined ? {} : { uid })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/mcp\.json cannot be written \(EACCES\)\. Nothing was changed/),
    });
    expect(await textOf(desk, "toolyard.toml")).toBe(TOML);
    expect(readdirSync(dirname(file))).toEqual(["mcp.json"]);
  });

  test("connects and restores the other clients if the file of one is malformed", async () => {
    await using desk = await Desk.create(FILES);
    await desk.write(fileOf("claude"), "no JSON");
    await desk.write(fileOf("cursor"), "{}");
    const all = await desk.run(["connect", "--yes"]);
    expect(all).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("Cursor is connected"),
      stderr: expect.stringMatching(/^Claude Desktop is left as it is: .*:1: not valid JSON/),
    });
    expect(JSON.parse((await desk.run(["connect", "--yes", "--json"])).stdout)).toMatchObject({
      clients: [{ client: "cursor" }],
      failed: [{ client: "claude", reason: expect.stringContaining("not valid JSON") }],
    });
    expect(await desk.run(["disconnect"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Cursor is disconnected"),
    });
    expect([await textOf(desk, fileOf("claude")), await textOf(desk, fileOf("cursor"))]).toEqual(["no JSON", "{}"]);
  });

  test.each([
    ["begins with a byte order mark", '\uFEFF{\r\n\t"servers": { "a": { "command": "x" } }\r\n}\r\n'],
    ["is empty", ""],
  ])("changes a file that %s, and restores it", async (_name, before) => {
    await using desk = await Desk.create(FILES);
    await desk.write(fileOf("vscode"), before);
    expect(await desk.run(["connect", "vscode", "--yes"])).toMatchObject({ code: 0 });
    const text = await textOf(desk, fileOf("vscode"));
    expect(text.startsWith("\uFEFF")).toBe(before.startsWith("\uFEFF"));
    expect(parseJsonc(text.replace(/^\uFEFF/, ""))).toEqual({
      servers: { toolyard: expect.objectContaining({ type: "stdio" }) },
    });
    await desk.run(["disconnect", "vscode"]);
    expect(await textOf(desk, fileOf("vscode"))).toBe(before);
  });

  test("offers discovery mode above 40 tools, which --mode normal declines", async () => {
    const many = SERVER.replace(
      '[tool("echo"), ',
      '[...Array.from({ length: 41 }, (_, at) => tool("t" + at)), tool("echo"), ',
    );
    await using desk = await Desk.create({ ...FILES, "server.mjs": many });
    const { stdout } = await desk.run(["connect", "cursor", "--yes"]);
    expect(stdout).toMatch(/The hub lists \d+ tools: Cursor is to find them by search/);
    expect((await serversOf(desk, "cursor"))["toolyard"]).toMatchObject({
      args: expect.arrayContaining(["--tool-mode", "discovery"]),
    });
    const declined = await desk.run(["connect", "zed", "--yes", "--mode", "normal"]);
    expect(declined.stdout).not.toContain("find them by search");
    expect((await serversOf(desk, "zed"))["toolyard"]).toMatchObject({
      args: expect.arrayContaining(["--tool-mode", "normal"]),
    });
    await desk.run(["connect", "windsurf", "--yes", "--http"]);
    expect((await serversOf(desk, "windsurf"))["toolyard"]).toMatchObject({
      serverUrl: "http://127.0.0.1:8808/mcp?tool_mode=discovery",
    });
  });

  test("creates the user's configuration if there is none", async () => {
    await using desk = await Desk.create({ "server.mjs": SERVER });
    await desk.write(
      fileOf("cursor"),
      JSON.stringify({ mcpServers: { a: { command: "node", args: [desk.path("server.mjs")] } } }),
    );
    expect(await desk.run(["connect", "cursor", "--yes"])).toMatchObject({ code: 0 });
    expect(await textOf(desk, "home/toolyard/toolyard.toml")).toContain("[mcp.stdio_servers.a]");
    const entry = (await serversOf(desk, "cursor"))["toolyard"] as StdioEntry;
    expect(await callThrough(desk, entry, "a__echo", { text: "own" })).toEqual([{ type: "text", text: "own" }]);
  });
});

describe("a user at a terminal", () => {
  const ask = async (
    desk: Desk,
    answers: readonly boolean[],
    options: ConnectOptions = {},
  ): Promise<readonly string[]> => {
    const asked: string[] = [];
    const io = {
      stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
      stderr: process.stderr,
      env: {
        HOME: desk.path("home"),
        USERPROFILE: desk.path("home"),
        TOOLYARD_HOME: desk.path("home/toolyard"),
        PATH: process.env["PATH"],
      },
      cwd: desk.folder,
      color: false,
      interrupted: new AbortController().signal,
      readStdin: () => Promise.resolve(""),
      ask: (question: string) => {
        asked.push(question);
        return Promise.resolve(answers[asked.length - 1] ?? false);
      },
    };
    expect(await connect(["cursor"], options, io)).toBe(0);
    return asked;
  };

  test("is asked about the client's servers, and may keep them there", async () => {
    await using desk = await Desk.create(FILES);
    await desk.write(fileOf("cursor"), '{"mcpServers": {"a": {"command": "x"}}}');
    expect(await ask(desk, [false])).toEqual([expect.stringMatching(/^Take over Cursor's own servers \(a\)/)]);
    expect(Object.keys(await serversOf(desk, "cursor"))).toEqual(["a", "toolyard"]);
    expect(await ask(desk, [], { keep: true })).toEqual([]);
    expect(await ask(desk, [true])).toHaveLength(1);
    expect(Object.keys(await serversOf(desk, "cursor"))).toEqual(["toolyard"]);
  });
});

test("finds clients by their common names", () => {
  for (const [name, id] of [
    ["Claude-Desktop", "claude"],
    ["code", "vscode"],
    ["gemini-cli", "gemini"],
  ])
    expect(findClient(name!)).toMatchObject({ id });
  expect(findClient("windsrf")).toEqual(["windsurf"]);
});
