import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CONFIG_SCHEMA } from "../../packages/toolyard/src/hub/schema.ts";
import { loadConfig } from "../../packages/toolyard/src/config/load.ts";
import {
  importServers,
  toTomlText,
  type ImportReport,
} from "../../packages/toolyard/src/config/import/import-servers.ts";
import { knownFiles } from "../../packages/toolyard/src/config/import/known-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-import-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

interface From {
  readonly workspace?: string;
  readonly target?: string;
  readonly taken?: Readonly<Record<string, Record<string, unknown>>>;
}

function take(
  path: string,
  { workspace, target = join(folder, "toolyard.toml"), taken = {} }: From = {},
): Promise<ImportReport> {
  const known = { program: "Some client", path, ...(workspace === undefined ? {} : { workspace }) };
  return importServers([known], {
    taken: new Map(Object.entries(taken)),
    target,
    cwd: folder,
    schema: CONFIG_SCHEMA,
    variables: {},
  });
}

function optionsOf({ servers }: ImportReport): Record<string, unknown> {
  return Object.fromEntries(servers.map(({ alias, options }) => [alias, options]));
}

describe("locations of clients' files", () => {
  const paths = (platform: NodeJS.Platform, variables: Record<string, string>, cwd: string): Record<string, string> =>
    Object.fromEntries(knownFiles({ platform, variables, cwd }).map(({ program, path }) => [program, path]));

  test("on Linux, in the XDG folder if one is set", () => {
    expect(paths("linux", { HOME: "/home/ada" }, "/work")).toMatchObject({
      "Claude Code (this folder)": "/work/.mcp.json",
      "VS Code (this folder)": "/work/.vscode/mcp.json",
      "Claude Desktop": "/home/ada/.config/Claude/claude_desktop_config.json",
      "Claude Code": "/home/ada/.claude.json",
      "VS Code": "/home/ada/.config/Code/User/mcp.json",
      Cursor: "/home/ada/.cursor/mcp.json",
      Windsurf: "/home/ada/.codeium/windsurf/mcp_config.json",
      Zed: "/home/ada/.config/zed/settings.json",
      Codex: "/home/ada/.codex/config.toml",
    });
    expect(
      paths(
        "linux",
        { HOME: "/home/ada", XDG_CONFIG_HOME: "/cfg", CODEX_HOME: "/cx", CLAUDE_CONFIG_DIR: "/cl" },
        "/work",
      ),
    ).toMatchObject({
      "VS Code": "/cfg/Code/User/mcp.json",
      Zed: "/cfg/zed/settings.json",
      Codex: "/cx/config.toml",
      "Claude Code": "/cl/.claude.json",
    });
  });

  test("reads a file once if the current folder is the user's home", () => {
    const paths = knownFiles({ platform: "linux", variables: { HOME: "/home/ada" }, cwd: "/home/ada" });
    expect(paths.filter(({ path }) => path === "/home/ada/.cursor/mcp.json")).toEqual([
      { program: "Cursor", path: "/home/ada/.cursor/mcp.json" },
    ]);
    expect(new Set(paths.map(({ path }) => path)).size).toBe(paths.length);
  });

  test("on macOS, in Application Support", () => {
    expect(paths("darwin", { HOME: "/Users/ada", XDG_CONFIG_HOME: "/cfg" }, "/work")).toMatchObject({
      "Claude Desktop": "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
      "VS Code": "/Users/ada/Library/Application Support/Code/User/mcp.json",
      Cline:
        "/Users/ada/Library/Application " +
        "Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      Zed: "/Users/ada/.config/zed/settings.json",
    });
  });

  test("on Windows, uses paths with backslashes, in AppData where the client does", () => {
    const variables = {
      USERPROFILE: "C:\\Users\\Ada",
      APPDATA: "C:\\Users\\Ada\\AppData\\Roaming",
      HOME: "/c/Users/Ada",
    };
    expect(paths("win32", variables, "C:\\work")).toMatchObject({
      "Claude Code (this folder)": "C:\\work\\.mcp.json",
      "Claude Desktop": "C:\\Users\\Ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
      "Claude Code": "C:\\Users\\Ada\\.claude.json",
      "VS Code": "C:\\Users\\Ada\\AppData\\Roaming\\Code\\User\\mcp.json",
      Zed: "C:\\Users\\Ada\\AppData\\Roaming\\Zed\\settings.json",
      Codex: "C:\\Users\\Ada\\.codex\\config.toml",
    });
  });
});

describe("formats of clients", () => {
  test("Claude Code: servers of this folder come first; those of other folders stay", async () => {
    const path = await file(".claude.json", {
      numStartups: 3,
      mcpServers: { everywhere: { type: "stdio", command: "a" }, twice: { command: "general" } },
      projects: {
        [folder]: {
          mcpServers: { here: { type: "http", url: "https://here.example/mcp" }, twice: { command: "special" } },
        },
        "/elsewhere": { mcpServers: { theirs: { command: "x" } } },
      },
    });
    const report = await take(path);
    expect(optionsOf(report)).toEqual({
      twice: { command: "special" },
      here: { namespace: "here", url: "https://here.example/mcp" },
      everywhere: { command: "a" },
    });
    expect(report.skipped.map(({ alias }) => alias)).toEqual(["twice"]);
  });

  test("VS Code: its prompted inputs become variables to set", async () => {
    const inputs = [{ id: "api-key", type: "promptString", password: true }];
    const path = await file(".vscode/mcp.json", {
      inputs,
      servers: { a: { type: "stdio", command: "run", args: ["${workspaceFolder}"], env: { KEY: "${input:api-key}" } } },
    });
    const { servers } = await take(path, { workspace: folder });
    expect(servers[0]).toMatchObject({
      variables: ["API_KEY"],
      options: { command: "run", args: ["${workspaceFolder}"], env: { KEY: "${API_KEY}" } },
    });
  });

  test("VS Code: older settings hold the servers in `mcp.servers`", async () => {
    const path = await file("settings.json", {
      "editor.fontSize": 12,
      mcp: { inputs: [], servers: { a: { command: "run" } } },
    });
    expect(optionsOf(await take(path))).toEqual({ a: { command: "run" } });
  });

  test("keeps the effect of workspace settings if the target file is in another folder", async () => {
    const path = await file("project/.vscode/mcp.json", {
      servers: { a: { command: "run", args: ["${workspaceFolder}/x"] }, b: { command: "run", cwd: "sub" } },
    });
    const workspace = join(folder, "project");
    expect(optionsOf(await take(path, { workspace }))).toEqual({
      a: { command: "run", args: [`${workspace}/x`], cwd: workspace },
      b: { command: "run", cwd: join(workspace, "sub") },
    });
    expect(optionsOf(await take(path, { workspace, target: join(workspace, "toolyard.toml") }))["b"]).toEqual({
      command: "run",
      cwd: "sub",
    });
  });

  test("Zed: reads comments, trailing commas and both forms of a command; skips extensions' servers", async () => {
    const path = await file(
      "settings.json",
      '// mine\n{"theme": "One", "context_servers": {"new": {"source": "custom", "command": "n", "args": ' +
        '["-a"], "env": {}}, "old": {"command": {"path": "o", "args": ["-b"], "env": {"K": "v"}}, "settings": ' +
        '{}}, "ext": {"source": "extension"},},}',
    );
    const report = await take(path);
    expect(optionsOf(report)).toEqual({
      new: { command: "n", args: ["-a"], env: {} },
      old: { command: "o", args: ["-b"], env: { K: "v" } },
    });
    expect(report.warnings.join("\n")).toContain('server "ext" has neither `command` nor `url`');
  });

  test("Codex: reads TOML with Codex's names for tokens, headers, time limits and tools", async () => {
    const path = await file(
      "config.toml",
      'model = "m"\n[mcp_servers.s]\ncommand = "npx"\nargs = ["-y"]\nstartup_timeout_sec = 20\n' +
        'tool_timeout_sec = 90\nenv_vars = ["HOME_KEY"]\ndisabled_tools = ["rm"]\n[mcp_servers.h]\n' +
        'url = "https://h.example/mcp"\nbearer_token_env_var = "H_TOKEN"\nenabled = false\n' +
        'http_headers = {A = "1"}\nenv_http_headers = {B = "B_VAR"}\n',
    );
    const report = await take(path);
    expect(optionsOf(report)).toEqual({
      s: {
        command: "npx",
        args: ["-y"],
        connect_timeout: "20s",
        timeout: "90s",
        inherit_env: ["HOME_KEY"],
        exclude: ["rm"],
      },
      h: {
        namespace: "h",
        url: "https://h.example/mcp",
        token: "${H_TOKEN}",
        enabled: false,
        headers: { A: "1", B: "${B_VAR}" },
      },
    });
    expect(report.warnings).toEqual([]);
  });

  test("reads servers of Gemini CLI and OpenCode", async () => {
    const gemini = await file("gemini.json", {
      mcpServers: { g: { httpUrl: "https://g.example", trust: true, includeTools: ["a"] } },
    });
    expect(optionsOf(await take(gemini))).toEqual({ g: { namespace: "g", url: "https://g.example", include: ["a"] } });
    const openCode = await file("opencode.json", {
      mcp: {
        l: { type: "local", command: ["bun", "x"], environment: { K: "v" } },
        r: { type: "remote", url: "https://r.example", enabled: false },
      },
    });
    expect(optionsOf(await take(openCode))).toEqual({
      l: { command: ["bun", "x"], env: { K: "v" } },
      r: { namespace: "r", url: "https://r.example", enabled: false },
    });
  });

  test("writes numbers and booleans as text if text is required", async () => {
    const path = await file("mcp.json", {
      mcpServers: { a: { command: "run", args: [1, true], env: { PORT: 3000, DEBUG: false, NONE: null } } },
    });
    expect(optionsOf(await take(path))).toEqual({
      a: { command: "run", args: ["1", "true"], env: { PORT: "3000", DEBUG: "false" } },
    });
  });

  test("skips a server that would make the target unreadable, with the reason", async () => {
    const path = await file("mcp.json", {
      mcpServers: { bad: { command: "run", args: "not a list" }, good: { command: "run" } },
    });
    const report = await take(path);
    expect(Object.keys(optionsOf(report))).toEqual(["good"]);
    expect(report.skipped[0]).toMatchObject({ alias: "bad", reason: expect.stringContaining("must be a list") });
  });

  test("reports a broken file as one warning, and keeps a name that the target has", async () => {
    const broken = await take(await file("broken.json", '{"mcpServers": {'));
    expect(broken).toMatchObject({ servers: [], warnings: [expect.stringContaining("broken.json")] });
    const taken = await take(await file("mcp.json", { mcpServers: { a: { command: "x" } } }), {
      taken: { a: { command: "x" } },
    });
    expect(taken).toMatchObject({ servers: [], skipped: [{ alias: "a" }] });
  });
});

describe("an entry that is not a server", () => {
  test("is omitted and reported once with the reason, and its neighbours are imported", async () => {
    const context_servers = {
      five: 5,
      extension: { source: "extension", settings: { a: 1 } },
      own: { source: "custom", command: "npx", args: ["-y", "x"] },
    };
    const path = await file("settings.json", { context_servers });
    const report = await take(path);
    expect(optionsOf(report)).toEqual({ own: { command: "npx", args: ["-y", "x"] } });
    expect(report.warnings).toEqual([
      `${path}: server "five" is not an object and was omitted`,
      `${path}: server "extension" has neither \`command\` nor \`url\` and was omitted`,
    ]);
  });
});

describe("a duplicate server", () => {
  const at = (name: string, mcpServers: object) => file(name, { mcpServers });
  const both = async (one: object, other: object): Promise<ImportReport> =>
    importServers(
      [
        { program: "One", path: await at("one.json", one) },
        { program: "Other", path: await at("other.json", other) },
      ],
      { taken: new Map(), target: join(folder, "toolyard.toml"), cwd: folder, schema: CONFIG_SCHEMA, variables: {} },
    );

  test("with one name: the first file wins; differences are shown, without arguments", async () => {
    const same = await both({ a: { command: "npx", args: ["-y", "x"] } }, { a: { command: "npx", args: ["-y", "x"] } });
    expect(same.skipped).toEqual([expect.objectContaining({ alias: "a", reason: "One has a server of this name" })]);
    const other = await both(
      { a: { command: "npx", args: ["-y", "@scope/x", "--key", "secret"] } },
      { a: { command: "uvx", args: ["y"] } },
    );
    expect(other.skipped[0]?.reason).toBe(
      "One has a server of this name, but with another command: `npx @scope/x` there, `uvx y` here. " +
        "Rename one of the two to keep both",
    );
    const folders = await both({ a: { command: "uvx", args: ["x", "/one"] } }, { a: { command: "uvx", args: ["x"] } });
    expect(folders.skipped[0]?.reason).toContain("but with other arguments of `uvx x`. Rename");
    const keys = await both({ a: { command: "x", env: { K: "1" } } }, { a: { command: "x", env: { K: "2" } } });
    expect(keys.skipped[0]?.reason).toContain("but with other variables or headers of the same command. Rename");
    expect(keys.skipped[0]?.reason).not.toMatch(/[12]/);
  });

  test("under two names: imports both and reports it; another account is not a duplicate", async () => {
    const { servers, warnings } = await both(
      { fs: { command: "npx", args: ["-y", "x"] }, mail: { command: "mail", env: { USER: "ada" } } },
      { files: { command: "npx -y x" }, work: { command: "mail", env: { USER: "work" } } },
    );
    expect(servers.map(({ alias }) => alias)).toEqual(["fs", "mail", "files", "work"]);
    expect(warnings).toEqual([expect.stringMatching(/^"files" of Other and "fs" of One run the same \(npx x\)/)]);
    const target = await take(await at("mcp.json", { new: { url: "https://a.example/mcp" } }), {
      taken: { old: { namespace: "old", url: "https://a.example/mcp" } },
    });
    expect(target.warnings).toEqual([
      expect.stringMatching(/^"new" of Some client and "old" of the target run the same/),
    ]);
  });

  test("keeps the target's entry of that name, and reports the difference", async () => {
    const path = await at("mcp.json", { a: { url: "https://b.example/mcp?key=s" } });
    const { skipped } = await take(path, { taken: { a: { url: "https://a.example/mcp" } } });
    expect(skipped[0]?.reason).toBe(
      "the target already has a server of this name, but with another address: `https://a.example/mcp` there, " +
        "`https://b.example/mcp` here. Rename one of the two to keep both",
    );
  });

  test("reads the imported entries from the target unchanged", async () => {
    const path = await at("mcp.json", { a: { command: "x", env: { K: "v" } } });
    const target = parse(await toTomlText((await take(path)).servers, CONFIG_SCHEMA)) as {
      mcp: { stdio_servers: never };
    };
    const { skipped } = await take(path, { taken: target.mcp.stdio_servers });
    expect(skipped).toEqual([expect.objectContaining({ alias: "a", isSame: true })]);
  });

  test("does not import the hub into itself", async () => {
    const entry = { command: "node", args: ["/opt/toolyard/dist/cli/main.js", "serve", "--stdio", "--shared"] };
    const { servers, skipped } = await take(await at("mcp.json", { toolyard: entry, a: { command: "x" } }));
    expect(servers.map(({ alias }) => alias)).toEqual(["a"]);
    expect(skipped[0]).toMatchObject({ alias: "toolyard", reason: "that is this hub" });
  });
});

test("writes valid TOML after other [mcp] tables, for any names", async () => {
  const odd = 'we"ird \\ name.日本\n]';
  const path = await file("mcp.json", {
    mcpServers: {
      [odd]: { command: "run", env: { "A.B": 'q"\n${X:-y}' } },
      "web.site": { url: "https://w.example", headers: { "X-Key": "k" } },
    },
  });
  const before =
    '[mcp.stdio_servers.a]\ncommand = "x"\n\n[[mcp.remote_servers]]\nnamespace = "r"\nurl = "https://r.example"\n';
  const text = before + (await toTomlText((await take(path)).servers, CONFIG_SCHEMA));
  const { mcp } = parse(text) as { mcp: { stdio_servers: object; remote_servers: object[] } };
  expect(Object.keys(mcp.stdio_servers)).toEqual(["a", odd]);
  expect(mcp.remote_servers).toHaveLength(2);
  const target = await file("toolyard.toml", text);
  const loaded = await loadConfig({ files: [target], variables: {}, schema: CONFIG_SCHEMA });
  expect(loaded.unusable).toEqual([]);
});
