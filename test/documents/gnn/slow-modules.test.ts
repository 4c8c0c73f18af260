import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTarget, wordsOf } from "../../security/attack.ts";
import { runCommand, type Ran } from "../../security/command.ts";
import { ToolFolder } from "../../support/tool-folder.ts";
import { Core } from "./core.ts";

let folder: ToolFolder;

beforeEach(() => (folder = new ToolFolder()));
afterEach(() => folder[Symbol.dispose]());

/** Time that lists wait for starting sources; too short for any module of these tests. */
const SHORT_WAIT = { cold_wait: "10ms" };

/** Returns a module that registers its tool once the file exists. */
function waitingFor(file: string): string {
  return `import { existsSync } from "node:fs";
while (!existsSync(${JSON.stringify(file)})) await new Promise((done) => setTimeout(done, 5));
export function register_tools(mcp) { mcp.register_tool("slow.run", () => "done"); }`;
}

const NEVER = "await new Promise((done) => setTimeout(done, 3_600_000).unref()); export function register_tools() {}";
const LATER = `await new Promise((done) => setTimeout(done, 1300));
export function register_tools(mcp) { mcp.register_tool("slow.run", () => "done"); }`;
const QUICK = `export function register_tools(mcp) { mcp.register_tool("quick.run", () => "done"); }`;

/** Writes the modules and a configuration for them, and returns a function that runs a command there. */
function yard(modules: Readonly<Record<string, string>>, timeout = "30s"): (...words: string[]) => Promise<Ran> {
  for (const [name, text] of Object.entries(modules)) folder.write(`src/${name}`, text);
  folder.write(
    "toolyard.toml",
    `[modules]\npaths = ["src"]\ntimeout = "${timeout}"\n[catalog]\ncold_wait = "10ms"\n[builtin]\n` +
      "execute_code = false\n",
  );
  const env = { PATH: process.env["PATH"] ?? "", TOOLYARD_HOME: folder.path };
  return (...words) => runCommand([...words, "--config", `${folder.path}/toolyard.toml`], env, { isTerminal: true });
}

test("G7: discovery waits for a slow module, and names it", async () => {
  await using core = new Core();
  const go = `${core.folder.path}/go`;
  core.folder.write("src/slow/mcp.mjs", waitingFor(go));
  const waitedFor: string[] = [];
  core.with({
    settings: { catalog: SHORT_WAIT },
    onWaiting: (names) => (waitedFor.push(...names), writeFileSync(go, "")),
  });
  expect(await core.mcp.discoverModules()).toBe(true);
  expect(waitedFor).toEqual(["src.slow.mcp"]);
  expect([core.mcp.diagnostics, core.mcp.allModulesLoaded]).toEqual([[], true]);
  expect(await core.mcp.executeTool("slow.run")).toBe("done");
});

test("G7: a module that times out is named, and the others are available", async () => {
  await using core = new Core();
  core.folder.write("src/never/mcp.mjs", NEVER);
  core.folder.write("src/quick/mcp.mjs", QUICK);
  core.with({ settings: { catalog: SHORT_WAIT, modules: { timeout: "4s" } } });
  expect([await core.mcp.discoverModules(), core.mcp.allModulesLoaded]).toEqual([true, false]);
  expect(core.mcp.diagnostics).toMatchObject([
    { source: "modules", subject: "src.never.mcp", message: expect.stringContaining("not done after 4 s") },
  ]);
  expect(await core.mcp.missingModules()).toEqual(["src.never.mcp"]);
});

test("G7: the next discovery waits for a module that appeared meanwhile", async () => {
  await using core = new Core();
  core.with({ settings: { catalog: SHORT_WAIT } });
  expect(await core.mcp.discoverModules()).toBe(false);
  const go = `${core.folder.path}/go`;
  core.folder.write("src/slow/mcp.mjs", waitingFor(go));
  const discovering = core.mcp.discoverModules();
  writeFileSync(go, "");
  expect(await discovering).toBe(true);
});

test("G47: core list waits for its modules and prints on a terminal that it waits", async () => {
  const run = yard({ "slow/mcp.mjs": LATER });
  const { code, stdout, stderr } = await run("core", "list");
  expect([code, stdout]).toEqual([0, expect.stringContaining("slow.run")]);
  expect(stderr).toContain("Waiting for src.slow.mcp; `timeout` of [modules] is the limit.");
});

test("G47: core list names a missing module and fails", async () => {
  const run = yard({ "never/mcp.mjs": NEVER, "quick/mcp.mjs": QUICK }, "4s");
  const { code, stdout, stderr } = await run("core", "list");
  expect([code, stdout]).toEqual([1, expect.stringContaining("quick.run")]);
  expect(stderr).toContain("missing: src.never.mcp");
});

test("G47: core execute runs available tools, and names the modules that may contain a missing one", async () => {
  const run = yard({ "never/mcp.mjs": NEVER, "quick/mcp.mjs": QUICK }, "4s");
  expect(await run("core", "execute", "quick.run")).toMatchObject({ code: 0 });
  const { code, stderr } = await run("core", "execute", "slow.run");
  expect([code, stderr]).toEqual([1, expect.stringContaining("missing: src.never.mcp")]);
});

test("toolyard list, search and call wait until slow modules have loaded", async () => {
  const run = yard({ "slow/mcp.mjs": LATER });
  expect(await run("list")).toMatchObject({ code: 0, stdout: expect.stringContaining("slow.run") });
  expect(await run("search", "slow")).toMatchObject({ code: 0, stdout: expect.stringContaining("slow.run") });
  expect(await run("call", "slow.run")).toMatchObject({ code: 0, stdout: "done\n" });
});

test("list, search and call report a missing module in stderr and in the exit code", async () => {
  const run = yard({ "never/mcp.mjs": NEVER, "quick/mcp.mjs": QUICK }, "4s");
  // Each of these commands waits for the module until its time limit.
  const [slow, quick, ...lists] = await Promise.all([
    run("call", "slow.run"),
    run("call", "quick.run"),
    run("list"),
    run("search", "quick"),
  ]);
  for (const { code, stdout, stderr } of lists) {
    expect([code, stdout, stderr]).toEqual([
      4,
      expect.stringContaining("quick.run"),
      expect.stringContaining("missing: src.never.mcp"),
    ]);
  }
  expect(slow).toMatchObject({ code: 3, stderr: expect.stringContaining("src.never.mcp") });
  expect(quick).toMatchObject({ code: 0 });
});

test("G7: waits for a Python module that imports slowly", async () => {
  await using core = new Core();
  core.folder.write(
    "src/slow/mcp.py",
    "import time\ntime.sleep(1.2)\ndef register_tools(mcp):\n" +
      '    mcp.register_tool("slow.run", lambda: "done", {}, "Slow")\n',
  );
  core.with({ settings: { catalog: SHORT_WAIT } });
  expect([await core.mcp.discoverModules(), core.mcp.allModulesLoaded]).toEqual([true, true]);
  expect(await core.mcp.executeTool("slow.run")).toBe("done");
});

test("a serving hub answers before its modules are loaded, names them, and logs when they are ready", async () => {
  const go = `${folder.path}/go`;
  folder.write("src/slow/mcp.mjs", waitingFor(go));
  await using target = await openTarget({ catalog: SHORT_WAIT, modules: { paths: [`${folder.path}/src`] } });
  const { hub } = target;
  const client = await target.client(undefined, { era: "legacy" });
  expect((await hub.list()).map(({ name }) => name)).not.toContain("slow.run");
  expect(hub.sources().find(({ source }) => source.id === "modules")).toMatchObject({
    status: { state: "starting" },
    problems: [{ subject: "src.slow.mcp", message: expect.stringContaining("still being imported") }],
  });
  expect(wordsOf(await client.request("tools/call", { name: "slow.run", arguments: {} }))).toContain("starting");
  writeFileSync(go, "");
  await client.next("notifications/tools/list_changed");
  expect(wordsOf(await client.request("tools/call", { name: "slow.run", arguments: {} }))).toBe("done");
  expect(hub.sources().flatMap(({ problems }) => problems)).toEqual([]);
});
