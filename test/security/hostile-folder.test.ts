// A tools folder that other users can write to, and callers who try to turn arguments into commands.
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { isAlive, textOf, ToolFolder } from "../support/tool-folder.ts";
import { openTarget, type Target } from "./attack.ts";

const isWindows = process.platform === "win32";
const SHOW_ENVIRONMENT = "process.stdout.write(JSON.stringify({ env: process.env }));\n";

let outside: string;
let folder: ToolFolder;

beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), "toolyard-outside-"));
  writeFileSync(join(outside, "evil.mjs"), 'process.stdout.write("evil");\n', { mode: 0o755 });
  folder = new ToolFolder();
});

afterEach(() => {
  folder[Symbol.dispose]();
  rmSync(outside, { recursive: true, force: true });
});

function problemsOf(target: Target): string {
  return JSON.stringify(target.hub.sources().flatMap(({ problems }) => problems));
}

describe("S7: only files inside the folder run", () => {
  test("S7: runs a script inside", async () => {
    folder.script("inside", "bin/run.mjs", 'process.stdout.write("fine");\n');
    await using target = await openTarget({ scripts: { tools_path: folder.path } });
    expect(textOf(await target.hub.call("inside"))).toBe("fine");
  });

  const ways: [string, (root: string) => void][] = [
    [
      "a way up",
      () =>
        folder.write(
          "bad/tool.toml",
          `name = "bad"\ndescription = "x"\nscript = "../../${outside.split("/").at(-1)}/evil.mjs"\n`,
        ),
    ],
    [
      "an absolute path",
      () => folder.write("bad/tool.toml", `name = "bad"\ndescription = "x"\nscript = "${join(outside, "evil.mjs")}"\n`),
    ],
    [
      "a way up in `command`",
      () =>
        folder.write(
          "bad/tool.toml",
          `name = "bad"\ndescription = "x"\ncommand = ["../../${outside.split("/").at(-1)}/evil.mjs"]\n`,
        ),
    ],
    [
      "a symbolic link to a file",
      () => {
        folder.write("bad/tool.toml", 'name = "bad"\ndescription = "x"\nscript = "run.mjs"\n');
        symlinkSync(join(outside, "evil.mjs"), join(folder.path, "bad/run.mjs"));
      },
    ],
    [
      "a symbolic link to a folder",
      () => {
        folder.write("bad/tool.toml", 'name = "bad"\ndescription = "x"\nscript = "way/evil.mjs"\n');
        symlinkSync(outside, join(folder.path, "bad/way"));
      },
    ],
    [
      "a symbolic link in place of the tool's folder",
      () => {
        writeFileSync(join(outside, "tool.toml"), 'name = "bad"\ndescription = "x"\nscript = "evil.mjs"\n');
        symlinkSync(outside, join(folder.path, "bad"));
      },
    ],
  ];

  test.skipIf(isWindows).each(ways)("S7: refuses %s out of the folder", async (_, prepare) => {
    prepare(folder.path);
    await using target = await openTarget({ scripts: { tools_path: folder.path } });
    await target.hub.list();
    const outcome = await target.hub.call("bad");
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome)).not.toContain(outside);
  });

  test.skipIf(isWindows)("S7: does not run a script that was replaced by a link after it was listed", async () => {
    folder.script("bad", "run.mjs", 'process.stdout.write("fine");\n');
    await using target = await openTarget({ scripts: { tools_path: folder.path } });
    expect((await target.hub.call("bad")).ok).toBe(true);
    folder.remove("bad/run.mjs");
    symlinkSync(join(outside, "evil.mjs"), join(folder.path, "bad/run.mjs"));
    const outcome = await target.hub.call("bad");
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome)).not.toContain('evil"');
  });

  test.skipIf(isWindows)("S7: execute folders and modules are confined as well", async () => {
    folder.write("f/good/good.mcp.json", '{"name": "good", "description": "x", "input_schema": {}}');
    folder.write("f/good/good.mjs", 'export function execute() { return "fine"; }\n');
    folder.write("f/bad/bad.mcp.json", '{"name": "bad", "description": "x", "input_schema": {}}');
    writeFileSync(join(outside, "bad.mjs"), 'export function execute() { return "evil"; }\n');
    symlinkSync(join(outside, "bad.mjs"), join(folder.path, "f/bad/bad.mjs"));
    writeFileSync(
      join(outside, "mcp.mjs"),
      'export function registerTools(hub) { hub.registerTool("evil", () => "evil", {}, "x"); }\n',
    );
    folder.write("m/keep/readme.txt", "");
    folder.write("m/bad/readme.txt", "");
    symlinkSync(join(outside, "mcp.mjs"), join(folder.path, "m/bad/mcp.mjs"));
    await using target = await openTarget({
      folders: { tools_path: join(folder.path, "f") },
      modules: { paths: [join(folder.path, "m")] },
    });
    const names = (await target.hub.list({ mode: "all" })).map(({ name }) => String(name));
    expect(names).toContain("good");
    expect(names.filter((name) => /bad|evil/.test(name))).toEqual([]);
    expect((await target.hub.call("bad")).ok).toBe(false);
    expect(problemsOf(target)).toMatch(/bad/);
    expect(problemsOf(target)).not.toContain(outside);
  });

  test.skipIf(isWindows)(
    "S7: a manifest that is a link to a file of the machine does not reveal its content",
    async () => {
      writeFileSync(join(outside, "shadow"), "root:hash-of-a-password:1\n");
      folder.write("bad/x", "");
      symlinkSync(join(outside, "shadow"), join(folder.path, "bad/tool.toml"));
      await using target = await openTarget({ scripts: { tools_path: folder.path } });
      await target.hub.list();
      expect(problemsOf(target) + (await target.log())).not.toContain("hash-of-a-password");
    },
  );
});

describe("S8: children", () => {
  const SECRETS = {
    TOOLYARD_TOKEN: "hub-token-value",
    AWS_SECRET_ACCESS_KEY: "cloud-key-value",
    NODE_OPTIONS: "--no-warnings",
    LD_PRELOAD_X: "preload-value",
    GITHUB_TOKEN: "forge-token-value",
  };
  const before = new Map<string, string | undefined>();

  beforeEach(() => {
    for (const [name, value] of Object.entries(SECRETS)) {
      before.set(name, process.env[name]);
      process.env[name] = value;
    }
  });

  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test("S8: passes to each child only its own variables, and no variable of the hub's environment", async () => {
    folder.script("shown", "run.mjs", SHOW_ENVIRONMENT, '[env]\nOWN = "own-value"\n');
    folder.write("f/shown2/shown2.mcp.json", '{"name": "shown2", "description": "x", "input_schema": {}}');
    folder.write("f/shown2/shown2.mjs", "export function execute() { return { env: process.env }; }\n");
    const server = folder.write(
      "server.mjs",
      `import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const results = { initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} },
    serverInfo: { name: "x", version: "1" } }, "tools/list": {
    tools: [{ name: "env", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: JSON.stringify(process.env) }] } };
  const result = results[method];
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id,
    ...(result ? { result } : { error: { code: -32601, message: "no" } }) }) + "\\n");
});\n`,
    );
    await using target = await openTarget({
      server: { token: "hub-token-value" },
      scripts: { tools_path: folder.path },
      folders: { tools_path: join(folder.path, "f") },
      mcp: {
        stdio_servers: {
          child: { command: [process.execPath, server], env: { OWN: "own-value" } },
          other: { command: [process.execPath, server], env: { THEIRS: "their-value" } },
        },
        remote_servers: [{ namespace: "far", url: "http://127.0.0.1:9/mcp", token: "far-token-value" }],
      },
    });
    await target.hub.list();
    for (const name of ["shown", "shown2", "child__env"]) {
      const text = textOf(await target.hub.call(name));
      expect(text, name).toContain("PATH");
      expect(text, name).not.toMatch(/hub-token|cloud-key|forge-token|preload-value|far-token|their-value|no-warnings/);
      if (name !== "shown2") expect(text, name).toContain("own-value");
    }
  });

  const EVIL_ARGUMENTS: JsonObject[] = [
    { x: "; touch OWNED" },
    { x: "$(touch OWNED)" },
    { x: "`touch OWNED`" },
    { x: "| touch OWNED &" },
    { x: "\n touch OWNED\n" },
    { x: "--eval=require('fs').writeFileSync('OWNED','')" },
    { "x; touch OWNED": "1", PATH: "/evil", LD_PRELOAD: "/evil.so", NODE_OPTIONS: "--require=/evil.js" },
    { x: "%x% ^& touch OWNED" },
  ];

  test.each(EVIL_ARGUMENTS)("S8: %j stays an argument", async (args) => {
    folder.script(
      "show",
      "run.mjs",
      "process.stdout.write(JSON.stringify({ argv: process.argv.slice(2), path: process.env.PATH, options: " +
        "process.env.NODE_OPTIONS ?? null, preload: process.env.LD_PRELOAD ?? null }));\n",
      'args = ["--value", "{x}"]\n[parameters.x]\ntype = "string"\n',
    );
    await using target = await openTarget({ scripts: { tools_path: folder.path } });
    const outcome = await target.hub.call("show", args);
    expect(outcome.ok).toBe(true);
    const shown = JSON.parse(textOf(outcome)) as { argv: string[]; path: string; options: unknown; preload: unknown };
    if (typeof args["x"] === "string") expect(shown.argv).toContain(args["x"]);
    expect(shown).toMatchObject({ path: process.env["PATH"], options: null, preload: null });
    expect(existsSync(join(folder.path, "show/OWNED"))).toBe(false);
  });

  test("S8: arguments that cannot be passed are refused or arrive on stdin, and the hub continues", async () => {
    folder.script(
      "show",
      "run.mjs",
      'let text = ""; process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => ' +
        "process.stdout.write(String(text.length)));\n",
      'args = ["{x}"]\n[parameters.x]\ntype = "string"\n',
    );
    folder.script(
      "plain",
      "run.mjs",
      'let text = ""; process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => ' +
        "process.stdout.write(String(text.length)));\n",
    );
    await using target = await openTarget({ scripts: { tools_path: folder.path } });
    for (const name of ["show", "plain"]) {
      for (const x of ["a\u0000b", "x".repeat(3_000_000), "\ud800"]) {
        const outcome = await target.hub.call(name, { x });
        if (!outcome.ok) expect(outcome.kind).not.toBe("internal");
      }
    }
    expect((await target.hub.call("plain", { x: "a\u0000b" })).ok).toBe(true);
    expect(textOf(await target.hub.call("plain", {}))).toBe("2");
  });

  test.skipIf(isWindows)(
    "S8: ends every process that a tool leaves running, also in another process group",
    async () => {
      const leave =
        "import { spawn } from 'node:child_process';\nconst child = spawn(process.execPath, ['-e', " +
        "'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });\nchild.unref();\n" +
        "process.stdout.write(String(child.pid));\n";
      folder.script("leaves", "run.mjs", leave);
      folder.script("hangs", "run.mjs", `${leave}setInterval(() => {}, 1000);\n`, 'timeout = "700ms"\n');
      const pids: number[] = [];
      {
        await using target = await openTarget({ scripts: { tools_path: folder.path } });
        pids.push(Number(textOf(await target.hub.call("leaves"))));
        expect(pids[0]).toBeGreaterThan(1);
        expect(await target.hub.call("hangs")).toMatchObject({ ok: false, kind: "timeout" });
      }
      await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    },
  );
});
