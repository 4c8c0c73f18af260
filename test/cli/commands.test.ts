import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../packages/toolyard/src/index.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";
import { Desk, exitOf, MAIN, textOf } from "./harness.ts";
import { SCRIPTS, SCRIPTS_TOML } from "./files.ts";

const COMMANDS = [
  "serve",
  "list",
  "show",
  "search",
  "call",
  "resource",
  "prompt",
  "status",
  "stop",
  "log",
  "config",
  "check",
  "doctor",
  "init",
  "import",
  "add",
  "remove",
  "enable",
  "disable",
  "connect",
  "disconnect",
  "new",
  "run",
  "login",
  "logout",
];

describe("help", () => {
  test("without arguments, `toolyard` prints every command and first steps", async () => {
    await using desk = await Desk.create();
    const bare = await desk.run([]);
    expect(bare).toEqual({ ...(await desk.run(["--help"])), stderr: "", code: 0 });
    for (const command of COMMANDS) expect(bare.stdout).toMatch(new RegExp(`^  ${command} `, "m"));
    expect(bare.stdout).toMatch(/Examples:\n {2}toolyard init\n/);
  });

  test.each(COMMANDS)("%s --help prints an example", async (command) => {
    await using desk = await Desk.create();
    const { code, stdout, stderr } = await desk.run([command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: toolyard ${command}`));
    expect(stdout).toMatch(new RegExp(`Examples:\\n  toolyard ${command}`));
    expect(stdout).toContain("--json");
  });

  test("prints the version of the package", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["--version"])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  test("answers a misspelt command or option with a suggestion and a pointer to help", async () => {
    await using desk = await Desk.create();
    expect((await desk.run(["serch", "x"])).stderr).toBe(
      "error: unknown command 'serch'\n(Did you mean search?)\n(toolyard --help lists the commands)\n",
    );
    expect((await desk.run(["list", "--jsn"])).stderr).toBe(
      "error: unknown option '--jsn'\n(Did you mean --json?)\n(toolyard list --help shows how it is used)\n",
    );
  });
});

describe("output for people", () => {
  test("prints a list without a terminal as a plain table of 100 columns, without truncation", async () => {
    const long = "Says ".repeat(60).trim();
    await using desk = await Desk.create({
      ...SCRIPTS,
      "toolyard.toml": SCRIPTS_TOML,
      "tools/say/tool.toml": `name = "say"\ndescription = "${long}"\nscript = "say.sh"\n`,
      "tools/say/say.sh": "echo",
    });
    const { stdout, stderr } = await desk.run(["list"]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^tool {2,}description$/);
    expect(lines[1]).toMatch(/^─+ {2}─+$/);
    expect(lines).toContainEqual(expect.stringMatching(/^work {2,}Works, fails or waits$/));
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(long);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(stdout + stderr).not.toContain("\u001b");
  });

  test("shows one tool; gives advice for list with a name, and for an unknown name", async () => {
    await using desk = await Desk.create({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML });
    const [shown, json, named, unknown, none] = await Promise.all([
      desk.run(["show", "work"]),
      desk.run(["show", "work", "--json"]),
      desk.run(["list", "work"]),
      desk.run(["show", "worc"]),
      desk.run(["show"]),
    ]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(/^work\nWorks, fails or waits\n\nparameter +type +default +description\n/);
    expect(shown.stdout).toMatch(/^how +"well" or "fail" or "wait" +required$/m);
    expect(shown.stdout).toMatch(/^toolyard call work how=well$/m);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: "work", inputSchema: { required: ["how"] } });
    expect(named).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("`toolyard show work` shows") });
    expect(unknown).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("work") });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("missing required argument 'tool'") });
  });

  test("prints colour on a terminal or with FORCE_COLOR, and never with NO_COLOR", async () => {
    await using desk = await Desk.create({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML });
    expect((await desk.run(["list"], { env: { FORCE_COLOR: "1" } })).stdout).toContain("\u001b[1m");
    expect((await desk.run(["list"], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
    expect((await desk.run(["list", "--json"], { env: { FORCE_COLOR: "1" } })).stdout).not.toContain("\u001b");
  });

  test("reports a missing configuration", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["list"])).toMatchObject({ code: 0, stderr: expect.stringContaining("toolyard init") });
    expect(await desk.run(["list", "--json"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("does not show a source as healthy that is omitted because of a missing variable", async () => {
    await using desk = await Desk.create({
      "toolyard.toml":
        '[mcp.stdio_servers.a]\ncommand = "x"\nenv = { KEY = "${A_KEY}" }\n[mcp.stdio_servers.off]\n' +
        'command = "x"\nenabled = false\nenv = { KEY = "${A_KEY}" }\n[[mcp.remote_servers]]\nalias = "far"\n' +
        'url = "https://${A_HOST}/mcp"\ntoken = "${A_TOKEN}"\nenabled = false\n',
    });
    const { code, stdout } = await desk.run(["check"]);
    expect(code).toBe(4);
    expect(stdout).toMatch(/^a: the variable A_KEY is not set; set it, or write \S+\.$/m);
    expect(stdout).not.toMatch(/^(?:off|far):/m);
    await desk.write("toolyard.toml", '[mcp.stdio_servers.off]\ncommand = "x"\nenabled = false\n');
    expect(await desk.run(["check"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Everything answers."),
    });
  });
});

describe("a configuration with mistakes", () => {
  test("each mistake is reported in a sentence, with advice", async () => {
    await using desk = await Desk.create({ "toolyard.toml": '[server]\nport = "many"\nprot = 1\n[mcp]\nx = 1\n' });
    const { code, stderr } = await desk.run(["check"]);
    const lines = stderr.trimEnd().split("\n");
    expect(code).toBe(2);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => !line.endsWith(".") && !line.endsWith("?"))).toEqual([]);
    expect(lines.at(-1)).toContain("run `toolyard check`");
    const json = await desk.run(["check", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { kind: "invalid_params" } });
  });
});

describe("check", () => {
  test("connects to servers that start on demand, too, with or without a stored listing", async () => {
    const server =
      "require('readline').createInterface({ input: process.stdin }).on('line', (line) => { const { id, " +
      "method } = JSON.parse(line); const result = method === 'initialize' ? " +
      "{ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } " +
      "} : { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }; " +
      "if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result })); });";
    await using desk = await Desk.create({
      "s.cjs": server,
      "toolyard.toml": '[mcp.stdio_servers.s]\ncommand = ["node", "s.cjs"]\nstart = "lazy"\n',
    });
    expect(await desk.run(["check"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^s +stdio +1 /m) });
    await desk.write("s.cjs", "process.exit(1);");
    expect(await desk.run(["check"])).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/^s: The server process ended/m),
    });
  });

  test("reports a server that announces list changes endlessly", async () => {
    await using desk = await Desk.create({
      "toolyard.toml": `[mcp.stdio_servers.s]\ncommand = ["node", ${JSON.stringify(fixture("restless"))}, "during"]\n`,
    });
    const { code, stdout } = await desk.run(["check"]);
    expect(code).toBe(4);
    expect(stdout.match(/^s: list_changed: The server announces changes of its lists without end/gmu)).toHaveLength(1);
  });

  test("reports a withheld manifest once", async () => {
    await using desk = await Desk.create({
      ...SCRIPTS,
      "toolyard.toml": SCRIPTS_TOML,
      "tools/bad/tool.toml": 'name = "bad',
    });
    const { code, stdout } = await desk.run(["check"]);
    expect(code).toBe(4);
    expect(stdout.match(/bad\/tool\.toml: not offered: /gu)).toHaveLength(1);
  });

  test("reports a missing sandbox engine that is configured, and none that no language uses", async () => {
    await using desk = await Desk.create({
      "toolyard.toml": '[sandbox]\njavascript_engine = "deno"\ndeno = "/no/such/deno"\n',
    });
    const { code, stdout } = await desk.run(["check"]);
    expect(code).toBe(4);
    expect(stdout).toMatch(
      /^sandbox deno: Deno is not installed\. .* In force for JavaScript and TypeScript, so that such code is refused$/mu,
    );
    expect(JSON.parse((await desk.run(["check", "--json"])).stdout)).toMatchObject({
      healthy: false,
      sandbox: [expect.stringMatching(/^sandbox deno: /u)],
    });
    await desk.write("toolyard.toml", '[sandbox]\ndeno = "/no/such/deno"\n');
    expect(await desk.run(["check"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Everything answers."),
    });
  });
});

describe("output for programs", () => {
  test.each([
    ["list", ["list"]],
    ["prompts", ["list", "--prompts"]],
    ["search", ["search", "work"]],
    ["config", ["config"]],
    ["the published schema", ["config", "--schema"]],
    ["check", ["check"]],
    ["doctor", ["doctor"]],
    ["import", ["import"]],
    ["init", ["init", "--output", "new/toolyard.toml"]],
  ])("--json: %s prints only JSON", async (_what, args) => {
    await using desk = await Desk.create({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML });
    const { code, stdout, stderr } = await desk.run([...args, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(() => JSON.parse(stdout)).not.toThrow();
  });
});

test("doctor reports each sandbox engine and the one in use", async () => {
  await using desk = await Desk.create({
    "toolyard.toml": '[sandbox]\njavascript_engine = "deno"\ndeno = "/no/such/deno"\n',
  });
  const { stdout } = await desk.run(["doctor", "--json"]);
  const { findings } = JSON.parse(stdout) as { findings: readonly { what: string; ok: boolean; detail: string }[] };
  const engine = (name: string) => findings.find(({ what }) => what === `sandbox ${name}`);
  expect(engine("embedded")).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^WebAssembly .*; in force for Python$/u) as string,
  });
  expect(engine("deno")).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      /^Deno is not installed\. Install it .* In force for JavaScript and TypeScript, so that such code is refused$/u,
    ) as string,
  });
  expect([engine("bwrap"), engine("bwrap-python")]).toEqual([expect.anything(), expect.anything()]);
});

test("doctor checks the configured port; with a broken configuration, the default one", async () => {
  await using desk = await Desk.create({ "toolyard.toml": "[server]\nport = 8809\n", "bad.toml": "[server\n" });
  const ports = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await desk.run(["doctor", "--json", ...args]);
    const { findings } = JSON.parse(stdout) as { findings: readonly { what: string }[] };
    return findings.map(({ what }) => what).filter((what) => what.startsWith("port"));
  };
  expect(await ports()).toEqual(["port 8809"]);
  expect(await ports("--config", "bad.toml")).toEqual(["port 8808"]);
});

describe("arguments of a call", () => {
  async function result(words: readonly string[], stdin?: string): Promise<unknown> {
    await using desk = await Desk.create({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML });
    const { stdout } = await desk.run(["call", "work", ...words, "--json"], stdin === undefined ? {} : { stdin });
    return (JSON.parse(stdout) as { structuredContent: unknown }).structuredContent;
  }

  test.each([
    ["one JSON object", ['{"how":"well","text":"a b"}'], undefined, "a b"],
    ["pairs; text stays text where the schema wants text", ["how=well", "text=12", "count=3"], undefined, "12"],
    ["pairs of JSON", ["how=well", 'text:="x=y"'], undefined, "x=y"],
    ["standard input", ["-"], '{"how":"well","text":"piped"}', "piped"],
    ["a value that holds the sign itself", ["how=well", "text=a=b:=c"], undefined, "a=b:=c"],
  ] as const)("%s", async (_what, words, stdin, text) => {
    expect(await result(words, stdin)).toEqual({ how: "well", text });
  });

  test("converts pairs by the schema for any spelling of a name", async () => {
    const server =
      "import { createInterface } from 'node:readline'; const answer = (id, result) => " +
      "console.log(JSON.stringify({ jsonrpc: '2.0', id, result })); " +
      "createInterface({ input: process.stdin }).on('line', (line) => { const { id, method, params } = " +
      "JSON.parse(line); if (method === 'initialize') answer(id, { protocolVersion: '2025-06-18', " +
      "capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }); " +
      "else if (method === 'tools/list') answer(id, { tools: [{ name: 'sum', inputSchema: { type: 'object', " +
      "properties: { a: { type: 'number' }, b: { type: 'number' } } } }] }); " +
      "else if (method === 'tools/call') answer(id, { content: [{ type: 'text', text: " +
      "String(params.arguments.a + params.arguments.b) }] }); " +
      "else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, " +
      "message: 'no' } })); });";
    await using desk = await Desk.create({
      "s.mjs": server,
      "toolyard.toml": '[mcp.stdio_servers.s]\ncommand = ["node", "s.mjs"]\n',
    });
    for (const name of ["s__sum", "s::sum", "s.sum", "sum"])
      expect(await desk.run(["call", name, "a=1", "b=2"])).toMatchObject({ code: 0, stdout: "3\n" });
  });
});

describe("init", () => {
  test("writes a valid file, and never overwrites one without --force", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["init"])).toMatchObject({ code: 0, stderr: "" });
    expect(await desk.run(["check"])).toMatchObject({ code: 0, stderr: "" });
    expect(await desk.run(["init"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });
    await desk.write("toolyard.toml", "# mine\n");
    expect((await desk.run(["init", "--force"])).code).toBe(0);
    expect(await readFile(desk.path("toolyard.toml"), "utf8")).toContain("toolyard serve");
  });

  test.runIf(process.platform === "linux")(
    "`init`, `new` and `import` change nothing if a file cannot be written completely",
    async () => {
      const clients = { "home/.cursor/mcp.json": '{"mcpServers": {"a": {"command": "node", "args": ["a.mjs"]}}}' };
      await using desk = await Desk.create({ ...clients, "kept.toml": "# mine\n" });
      // Limits file size to 0 bytes, as on a full disk.
      const shell = 'trap "" XFSZ; ulimit -f 0; exec "$@"';
      const full = async (...args: readonly string[]) => {
        const child = desk.startCommand(["sh", "-c", shell, "sh", process.execPath, MAIN, ...args]);
        const [said, code] = await Promise.all([textOf(child.stderr!), exitOf(child), textOf(child.stdout!)]);
        return { said, code };
      };
      expect(await full("init")).toEqual({ code: 2, said: expect.stringContaining("toolyard.toml cannot be written") });
      expect(await full("init", "--force", "--output", "kept.toml")).toMatchObject({ code: 2 });
      expect(await full("import", "--write", "--yes", "--output", "kept.toml")).toMatchObject({ code: 2 });
      const { said } = await full("new", "words", "--python");
      expect(said).toMatch(/tools\/words cannot be written \(\w+\)\. Check the write permissions of the folder/);
      expect(existsSync(desk.path("toolyard.toml"))).toBe(false);
      expect(existsSync(desk.path("tools/words"))).toBe(false);
      expect(await readFile(desk.path("kept.toml"), "utf8")).toBe("# mine\n");
      expect(await desk.run(["new", "words", "--python"])).toMatchObject({ code: 0 });
    },
  );

  test("proposes only existing options, with valid values", async () => {
    await using desk = await Desk.create();
    await desk.run(["init"]);
    const text = await readFile(desk.path("toolyard.toml"), "utf8");
    const proposed = text.replaceAll(/^# (\[.*|[a-z_]+ = .*)$/gm, "$1");
    expect(proposed.match(/^[a-z_]+ = /gm)?.length).toBeGreaterThan(15);
    await desk.write("all.toml", proposed);
    expect(
      await desk.run(["config", "--config", "all.toml"], {
        env: { TOOLYARD_TOKEN: "t".repeat(20), EXAMPLE_TOKEN: "e" },
      }),
    ).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("import", () => {
  const clients = {
    "home/.cursor/mcp.json":
      '{"mcpServers": {"a": {"command": "node", "args": ["a.mjs"], "env": {"KEY": "a-secret-value"}}}}',
  };

  test("shows the found servers, writes with --write, and shows no secret", async () => {
    await using desk = await Desk.create(clients);
    const shown = await desk.run(["import"]);
    expect(shown.stdout).toMatch(/^a +stdio +Cursor \(.*mcp\.json\)$/m);
    await expect(stat(desk.path("toolyard.toml"))).rejects.toThrow("ENOENT");
    const written = await desk.run(["import", "--write"]);
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect((await stat(desk.path("toolyard.toml"))).mode & 0o777).toBe(0o600);
    expect(await readFile(desk.path("toolyard.toml"), "utf8")).toContain("a-secret-value");
    const config = await desk.run(["config"]);
    for (const { stdout, stderr } of [shown, written, config]) expect(stdout + stderr).not.toContain("a-secret-value");
    expect((await desk.run(["import", "--write"])).stdout).toContain("the target already has a server of this name");
  });

  test("appends to the file, and warns if other users could read the keys", async () => {
    await using desk = await Desk.create({ ...clients, "toolyard.toml": '[mcp.stdio_servers.b]\ncommand = "b"' });
    const written = await desk.run(["import", "--write"]);
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining("chmod 600") });
    const config = await desk.run(["config"]);
    expect(config.stdout).toMatch(/^mcp\.stdio_servers\.a\.command /m);
    expect(config.stdout).toMatch(/^mcp\.stdio_servers\.b\.command /m);
  });

  test("does not change a target file that cannot be extended", async () => {
    const inline = 'mcp = { stdio_servers = { b = { command = "b" } } }\n';
    await using desk = await Desk.create({ ...clients, "toolyard.toml": inline });
    expect(await desk.run(["import", "--write"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("cannot be added to"),
    });
    expect(await readFile(desk.path("toolyard.toml"), "utf8")).toBe(inline);
  });

  test("reports a missing named file as an error, but not an empty search", async () => {
    await using desk = await Desk.create();
    expect(await desk.run(["import", "none.json"])).toMatchObject({ code: 2 });
    expect(await desk.run(["import"])).toMatchObject({ code: 0, stdout: expect.stringContaining("Name one") });
  });
});
