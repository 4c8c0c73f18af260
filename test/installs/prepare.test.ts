import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { Desk, ROOT } from "../cli/harness.ts";
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

test("`prepare` installs what files beside tools name, and only when somebody agrees", LONG, async () => {
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

test("what cannot be had is named, and the rest is installed", LONG, async () => {
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

test("`check` waits for headers, and tells those that cannot be had", LONG, async ({ skip }) => {
  skip(process.platform === "win32", "not on this platform");
  await using desk = await Desk.create({
    "toolyard.toml": TOML,
    "tools/lost/tool.toml": manifest("lost", "lost.py"),
    "tools/lost/lost.py": '# /// script\n# dependencies = ["none-such"]\n# ///\nprint(1)\n',
  });
  await mkdir(desk.path("bin"));
  await copyFile(join(ROOT, "test/fixtures/installs/uv.cjs"), desk.path("bin/uv"));
  await chmod(desk.path("bin/uv"), 0o755);
  const env = { PATH: `${desk.path("bin")}${delimiter}${process.env["PATH"] ?? ""}` };
  const checked = await desk.run(["check", "--json"], { env });
  expect(checked.code).toBe(4);
  expect(checked.stdout).toContain("The packages in the header of lost.py could not be installed");
});

test("where no tool names anything, `prepare` says so; a section that nobody accepted is not touched", async () => {
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
