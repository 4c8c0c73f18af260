import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { Desk, exitOf, MAIN, ROOT, seen, textOf } from "../cli/harness.ts";
import { NpmRegistry } from "../fixtures/installs/npm-registry.ts";
import { PythonIndex } from "../fixtures/installs/python-index.ts";
import { LONG } from "./yard.ts";

const TOML = '[scripts]\ntools_path = "tools"\n';
const manifest = (name: string, script: string): string =>
  `name = "${name}"\ndescription = "Uses a package"\nscript = "${script}"\n`;

const FILES = {
  "toolyard.toml": TOML,
  "tools/words/tool.toml": manifest("words", "words.py"),
  "tools/words/words.py": "import tiny_words\nprint(tiny_words.TEXT)\n",
  "tools/words/requirements.txt": "tiny_words==1.0.0\n",
  "tools/parts/tool.toml": manifest("parts", "parts.mjs"),
  "tools/parts/parts.mjs": 'import { TEXT } from "tiny-parts";\nconsole.log(TEXT);\n',
  "tools/parts/package.json": '{"dependencies": {"tiny-parts": "1.0.0"}}',
};

const PACKAGE = {
  name: "tiny-parts",
  files: { "index.mjs": 'export const TEXT = "parts there";\n' },
};

const hasUv = (process.env["PATH"] ?? "")
  .split(delimiter)
  .some((place) => existsSync(join(place, process.platform === "win32" ? "uv.exe" : "uv")));

const canPty = process.platform !== "win32" && spawnSync("python3", ["-c", "import pty"]).status === 0;

/** Runs a command on a terminal and answers its question. */
const ANSWERING = `import os, pty, sys
answer, command = sys.argv[1].encode(), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
seen, waits = b"", True
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
    seen += piece
    if waits and b"[y/N] " in seen:
        os.write(terminal, answer + b"\\n")
        waits = False
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`;

interface Answering {
  readonly answer: string;
  readonly env: Readonly<Record<string, string>>;
}

async function atTerminal(desk: Desk, args: readonly string[], { answer, env }: Answering) {
  const command = ["python3", "-c", ANSWERING, answer, process.execPath, MAIN, ...args];
  const child = desk.startCommand(command, { env: { TERM: "xterm-256color", ...env } });
  const [said, code] = await Promise.all([textOf(child.stdout!), exitOf(child)]);
  return { said: stripVTControlCharacters(said), code };
}

/** Puts the replacement for uv first on PATH. */
async function withStandIn(desk: Desk): Promise<Readonly<Record<string, string>>> {
  await mkdir(desk.path("bin"));
  await copyFile(join(ROOT, "test/fixtures/installs/uv.cjs"), desk.path("bin/uv"));
  await chmod(desk.path("bin/uv"), 0o755);
  return { PATH: `${desk.path("bin")}${delimiter}${process.env["PATH"] ?? ""}` };
}

test("`prepare` installs packages of the files next to tools, after consent", LONG, async () => {
  await using index = await PythonIndex.start({ tiny_words: 'TEXT = "words there"\n' });
  await using registry = await NpmRegistry.start([PACKAGE]);
  await using desk = await Desk.create({ ...FILES, "home/.npmrc": registry.npmrc() });
  const env = { ...index.env };
  const before = await desk.run(["call", "words"], { env });
  expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining("No module named 'tiny_words'") });
  const unasked = await desk.run(["prepare"], { env });
  expect(unasked.code).toBe(2);
  expect(unasked.stdout).toMatch(/package\.json \(parts\):\n {2}\S*npm\S* install --ignore-scripts/);
  expect(unasked.stdout).toMatch(/requirements\.txt \(words\):\n {2}\S/);
  expect(unasked.stderr).toContain("`toolyard prepare --yes`");
  expect([index.downloads, registry.downloads]).toEqual([[], []]);

  const done = await desk.run(["prepare", "--yes"], { env });
  expect(done.stderr).toContain("installing");
  expect(done, done.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining("requirements.txt: installed") });
  expect(await desk.run(["call", "words"], { env })).toMatchObject({ code: 0, stdout: "words there\n" });
  expect(await desk.run(["call", "parts"], { env })).toMatchObject({ code: 0, stdout: "parts there\n" });
  const again = await desk.run(["prepare", "--json"], { env });
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(again.stdout)).toEqual([
    expect.objectContaining({ kind: "package.json", state: "ready", tools: ["parts"] }),
    expect.objectContaining({ kind: "requirements.txt", state: "ready", target: desk.path("tools/words/.venv") }),
  ]);
  expect(registry.downloads).toEqual(["tiny-parts"]);
});

test('a hub installs packages with `dependencies = "auto"`, and runs no script of a package', LONG, async () => {
  const scripts = { preinstall: "exit 7", postinstall: "exit 7", prepare: "exit 7" };
  const about = { name: "tiny-parts", version: "1.0.0", exports: "./index.mjs", scripts };
  const files = { ...PACKAGE.files, "package.json": JSON.stringify(about) };
  await using index = await PythonIndex.start({ tiny_words: 'TEXT = "words there"\n' });
  await using registry = await NpmRegistry.start([{ ...PACKAGE, files }]);
  await using desk = await Desk.create({
    ...FILES,
    "tools/parts/package.json": JSON.stringify({ dependencies: { "tiny-parts": "1.0.0" }, scripts }),
    "toolyard.toml": `${TOML}dependencies = "auto"\n`,
    "home/.npmrc": registry.npmrc(),
  });
  const hub = desk.start(["serve", "--port", "0", "--yes"], { env: { ...index.env } });
  const installed = seen(hub.stderr!, /(?:Requirements of tools were installed[^]*){2}/);
  const [address] = await seen(hub.stdout!, /http:\/\/127\.0\.0\.1:\d+/);
  await installed;
  const said = async (tool: string): Promise<string> =>
    (await fetch(`${address}/api/tools/${tool}`, { method: "POST" })).text();
  expect([await said("parts"), await said("words")]).toEqual([
    expect.stringContaining("parts there"),
    expect.stringContaining("words there"),
  ]);
  expect(registry.downloads).toEqual(["tiny-parts"]);
  hub.kill("SIGTERM");
  expect(await exitOf(hub)).toBe(0);
});

test("marks files with package sources before the user agrees", async () => {
  const toolOf = (name: string, script: string) => ({
    [`tools/${name}/tool.toml`]: manifest(name, script),
    [`tools/${name}/${script}`]: "",
  });
  const python = { plain: "tides[all]>=1,<2 # a/b\n", index: "--index-url https://x.example\ntides\n" };
  const others = { editable: "-e ../away\n", path: "parts/tides\n", address: "tides @ git+https://x.example/t\n" };
  const node = { named: "^1.0.0", repository: "someone/tides", file: "file:../away", alias: "npm:tides@1" };
  const lockOf = (resolved: string): string =>
    JSON.stringify({ lockfileVersion: 3, packages: { "node_modules/tides": { version: "1.0.0", resolved } } });
  const inNode = (name: string, more: object = {}) => ({
    ...toolOf(name, "a.mjs"),
    [`tools/${name}/package.json`]: JSON.stringify({ dependencies: { tides: "1" }, ...more }),
  });
  await using desk = await Desk.create({
    "toolyard.toml": TOML,
    ...Object.fromEntries(
      Object.entries({ ...python, ...others }).flatMap(([name, text]) =>
        Object.entries({ ...toolOf(name, "a.py"), [`tools/${name}/requirements.txt`]: text }),
      ),
    ),
    ...Object.fromEntries(
      Object.entries(node).flatMap(([name, tides]) =>
        Object.entries({
          ...toolOf(name, "a.mjs"),
          [`tools/${name}/package.json`]: JSON.stringify({ dependencies: { tides } }),
        }),
      ),
    ),
    ...inNode("optional", { optionalDependencies: { waves: "https://x.example/waves.tgz" } }),
    ...inNode("overridden", { overrides: { tides: { waves: "file:../away" } } }),
    ...inNode("locked"),
    "tools/locked/package-lock.json": lockOf("https://x.example/tides.tgz"),
    ...inNode("usual"),
    "tools/usual/package-lock.json": lockOf("https://registry.npmjs.org/tides/-/tides-1.0.0.tgz"),
  });
  const { stdout, code } = await desk.run(["prepare"]);
  expect(code).toBe(2);
  const blocks = stdout.split(/^(?=tools\/)/m).filter((block) => block.startsWith("tools/"));
  expect(blocks).toHaveLength(13);
  const noted = blocks.filter((block) => block.includes("It names package sources"));
  expect(noted.map((block) => /\((\w+)\)/.exec(block)?.[1]).toSorted()).toEqual([
    "address",
    "editable",
    "file",
    "index",
    "locked",
    "optional",
    "overridden",
    "path",
    "repository",
  ]);
});

test("names unavailable packages, and installs the others", LONG, async () => {
  await using registry = await NpmRegistry.start([PACKAGE]);
  await using desk = await Desk.create({
    "toolyard.toml": TOML,
    "home/.npmrc": registry.npmrc(),
    "tools/parts/tool.toml": manifest("parts", "parts.mjs"),
    "tools/parts/parts.mjs": FILES["tools/parts/parts.mjs"],
    "tools/parts/package.json": FILES["tools/parts/package.json"],
    "tools/lost/tool.toml": manifest("lost", "lost.mjs"),
    "tools/lost/lost.mjs": "console.log(1);\n",
    "tools/lost/package.json": '{"dependencies": {"no-such-parts": "1.0.0"}}',
  });
  const ran = await desk.run(["prepare", "--yes", "--json"]);
  expect(ran.code).toBe(4);
  const [lost, parts] = JSON.parse(ran.stdout) as { state: string; message?: string }[];
  expect(parts).toMatchObject({ state: "installed" });
  expect(lost).toMatchObject({ state: "failed", message: expect.stringContaining("could not be installed") });
  expect(lost!.message).toContain("Correct the names and versions");
});

test("`check` waits for packages of script headers, and reports unavailable ones", LONG, async ({ skip }) => {
  skip(process.platform === "win32", "not on this platform");
  await using desk = await Desk.create({
    "toolyard.toml": TOML,
    "tools/lost/tool.toml": manifest("lost", "lost.py"),
    "tools/lost/lost.py": '# /// script\n# dependencies = ["none-such"]\n# ///\nprint(1)\n',
  });
  const checked = await desk.run(["check", "--json"], { env: await withStandIn(desk) });
  expect(checked.code).toBe(4);
  expect(checked.stdout).toContain("The packages in the header of lost.py could not be installed");
});

test("two concurrent `prepare` install once, and both succeed", LONG, async ({ skip }) => {
  skip(process.platform === "win32", "not on this platform");
  await using desk = await Desk.create({
    "toolyard.toml": TOML,
    "tools/both/tool.toml": manifest("both", "both.py"),
    "tools/both/both.py": '# /// script\n# dependencies = ["lll"]\n# ///\nimport lll\nprint(lll.NAME)\n',
  });
  const env = await withStandIn(desk);
  await writeFile(desk.path("bin/slow"), "");
  const both = [desk.run(["prepare", "--yes"], { env }), desk.run(["prepare", "--yes"], { env })];
  await expect.poll(() => existsSync(desk.path("bin/uv.log")), LONG).toBe(true);
  await rm(desk.path("bin/slow"));
  for (const ran of await Promise.all(both)) expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect((await readFile(desk.path("bin/uv.log"), "utf8")).trim().split("\n")).toHaveLength(1);
  expect(await desk.run(["call", "both"], { env })).toMatchObject({ code: 0, stdout: "lll\n" });
});

test("at a terminal, `prepare` shows its commands and asks; only a yes installs", LONG, async ({ skip }) => {
  skip(!canPty, "not on this platform");
  for (const [answer, code] of [
    ["", 2],
    ["y", 0],
  ] as const) {
    await using desk = await Desk.create({
      "toolyard.toml": TOML,
      "tools/one/tool.toml": manifest("one", "one.py"),
      "tools/one/one.py": '# /// script\n# dependencies = ["mmm @ https://x.example/mmm.whl"]\n# ///\nimport mmm\n',
    });
    const ran = await atTerminal(desk, ["prepare"], { answer, env: await withStandIn(desk) });
    expect(ran.said).toContain("It names package sources; check it before you agree.");
    expect(ran.said).toContain("Run that, with code of the packages where one must be built? [y/N]");
    expect([ran.code, existsSync(desk.path("bin/uv.log"))], ran.said).toEqual([code, answer === "y"]);
  }
});

test("`prepare` reports that no tool needs packages, and ignores a section that was not accepted", async () => {
  await using desk = await Desk.create({ "toolyard.toml": TOML, "tools/a/tool.toml": manifest("a", "a.sh") });
  await desk.write("tools/a/a.sh", "echo a\n");
  expect(await desk.run(["prepare"])).toMatchObject({ code: 0, stdout: expect.stringContaining("No tool here names") });
  await using foreign = await Desk.create({ ...FILES, ".git/HEAD": "ref: refs/heads/main\n" });
  const refused = await foreign.run(["prepare"]);
  expect(refused.code).toBe(2);
  expect(existsSync(foreign.path("tools/words/.venv"))).toBe(false);
});

test("uv itself prepares the header of a script for `toolyard call`", LONG, async ({ skip }) => {
  skip(!hasUv, "uv is not on this machine");
  await using index = await PythonIndex.start({ tiny_words: 'TEXT = "words there"\n' });
  await using desk = await Desk.create({
    "toolyard.toml": TOML,
    "tools/words/tool.toml": manifest("words", "words.py"),
    "tools/words/words.py":
      '# /// script\n# requires-python = ">=3.8"\n# dependencies = [\n#   "tiny_words",\n# ]\n# ///\n' +
      FILES["tools/words/words.py"],
  });
  const env = { ...index.env, UV_CACHE_DIR: desk.path("uv-cache"), UV_PYTHON_DOWNLOADS: "never" };
  expect(await desk.run(["call", "words"], { env })).toMatchObject({ code: 0, stdout: "words there\n" });
  const downloads = index.downloads.length;
  expect(downloads).toBeGreaterThan(0);
  expect(await desk.run(["call", "words"], { env })).toMatchObject({ code: 0, stdout: "words there\n" });
  expect(index.downloads).toHaveLength(downloads);
});
