// The package as installed by `npm install --omit=optional`: with all its dependencies, and nothing else.
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { EXTRAS } from "../../packages/toolyard/src/extras/extras.ts";
import { PACKAGE, ROOT } from "../cli/harness.ts";

const run = promisify(execFile);
/** Packages by the names of their folders. */
const PACKAGES = { toolyard: "toolyard", "@toolyard/gnn": "gnn", "@toolyard/library": "library" };
const MANIFESTS = Object.values(PACKAGES).map(
  (place) => JSON.parse(readFileSync(join(PACKAGE, "..", place, "package.json"), "utf8")) as Manifest,
);
const MANIFEST = {
  dependencies: Object.assign({}, ...MANIFESTS.map(({ dependencies }) => dependencies)) as Manifest["dependencies"],
  optionalDependencies: Object.assign(
    {},
    ...MANIFESTS.map(({ optionalDependencies }) => optionalDependencies),
  ) as Manifest["optionalDependencies"],
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

let folder: string;
let modules: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-optional-")));
  modules = join(folder, "node_modules");
  for (const [name, place] of Object.entries(PACKAGES)) {
    const from = join(PACKAGE, "..", place);
    await cp(join(from, "package.json"), join(modules, name, "package.json"));
    await cp(join(from, "dist"), join(modules, name, "dist"), { recursive: true });
  }
  for (const name of Object.keys(MANIFEST.dependencies)) if (!(name in PACKAGES)) await link(name);
  await writeFile(join(folder, "model.md"), MODEL);
});

afterEach(async () => {
  const stay = new Set([...Object.keys(PACKAGES), ...Object.keys(MANIFEST.dependencies)]);
  for (const name of namesIn(modules)) if (!stay.has(name)) await rm(join(modules, name));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function link(name: string): Promise<void> {
  await mkdir(dirname(join(modules, name)), { recursive: true });
  await symlink(join(ROOT, "node_modules", name), join(modules, name));
}

/** Installs all optional packages with their dependencies, except this one. */
async function leaveOut(missing: string): Promise<void> {
  for (const name of namesIn(join(ROOT, "node_modules")))
    if (name !== missing && !existsSync(join(modules, name))) await link(name);
}

function namesIn(path: string): readonly string[] {
  return readdirSync(path)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => (name.startsWith("@") ? readdirSync(join(path, name)).map((own) => `${name}/${own}`) : [name]));
}

const env = () => ({ PATH: process.env["PATH"], HOME: folder, TOOLYARD_HOME: folder });

/** Runs a program that uses the package; returns its output. */
async function program(text: string): Promise<string> {
  await writeFile(join(folder, "program.mjs"), text);
  const { stdout } = await run(process.execPath, ["program.mjs"], { cwd: folder, env: env() });
  return stdout;
}

/** Runs the command; returns its standard error. */
async function command(...args: readonly string[]): Promise<string> {
  const main = join(modules, "toolyard/dist/cli/main.js");
  const { stderr } = await run(process.execPath, [main, ...args], { cwd: folder, env: env() }).catch(
    (error: { stderr: string }) => error,
  );
  return stderr;
}

/** Pattern of the message for a missing package. */
function sentence(name: string): RegExp {
  const extra = EXTRAS.find(({ packages }) => packages.some((own) => own === name))!.name;
  return new RegExp(
    `The extra \`${extra}\` is not installed, which is required for .+\\. ` +
      `Install it: \`toolyard extras add ${extra}\` \\([\\d.]+ MB\\)\\.`,
  );
}

const MODEL = `## GNNSection
Marsh
## GNNVersionAndFlags
GNN v1
## ModelName
Marsh
## StateSpaceBlock
A[2,2,type=float]
D[2,type=float]
s[2,1,type=float]
o[2,1,type=int]
## Connections
D>s
s-A
A-o
## InitialParameterization
A={(0.8,0.3),(0.2,0.7)}
D={(0.5,0.5)}
`;

test("only the keyring is optional; packages of extras are exact development dependencies", () => {
  expect(Object.keys(MANIFEST.optionalDependencies)).toEqual(["@napi-rs/keyring"]);
  const development = Object.assign({}, ...MANIFESTS.map(({ devDependencies }) => devDependencies)) as object;
  const root = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
  const interpreter = JSON.parse(readFileSync(join(PACKAGE, "../python-wasi/package.json"), "utf8")) as Manifest;
  const own = Object.fromEntries([...MANIFESTS, interpreter].map(({ name, version }) => [name, version]));
  for (const { versions } of EXTRAS)
    expect({ ...root.devDependencies, ...development, ...own }).toMatchObject(versions);
  expect(EXTRAS.flatMap(({ packages }) => packages).filter((name) => name in MANIFEST.dependencies)).toEqual([]);
});

test("without optional packages the hub serves tools, runs JavaScript, and names the command for Python", async () => {
  const said = await program(`import { createHub } from "toolyard";
import "toolyard/agent";
const hub = await createHub({ variables: {}, settings: { logging: { level: "error" } },
  registerTools: (own) => void own.registerTool("add", ({ a }) => String(a + 1), {}) });
const say = (outcome) => console.log(outcome.ok ? outcome.result.content[0].text : outcome.message);
say(await hub.call("add", { a: 41 }));
say(await hub.call("execute_code", { language: "javascript", code: "return 6 * 7" }));
say(await hub.call("execute_code", { language: "python", code: "return 6 * 7" }));
await hub.close();
`);
  const [added, javascript, python] = said.split("\n");
  expect(added).toBe("42");
  expect(javascript).toContain("42");
  expect(python).toMatch(sentence("@toolyard/python-wasi"));
});

const ask = (model: string): string => `import { createHub } from "toolyard";
import { createAgent } from "toolyard/agent";
const keys = { MISTRAL_API_KEY: "k", OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GOOGLE_API_KEY: "k",
  OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
const hub = await createHub({ variables: {}, settings: { logging: { level: "error" } } });
const agent = createAgent({ hub, model: "${model}", variables: keys });
const told = await agent.chat("hello").then((outcome) => outcome.message ?? outcome.text, (error) => error.message);
console.log(told);
await hub.close();
`;

test.each([
  ["mistral/some-model", "@ai-sdk/mistral"],
  ["openai/some-model", "@ai-sdk/openai"],
  ["anthropic/some-model", "@ai-sdk/anthropic"],
  ["google/some-model", "@ai-sdk/google"],
  ["ollama/some-model", "@ai-sdk/openai-compatible"],
  ["mistral/some-model", "ai"],
])(
  "for model %s without the package `%s`, the error names the install command in one sentence",
  async (model, missing) => {
    await leaveOut(missing);
    expect(await program(ask(model))).toMatch(sentence(missing));
  },
);

test("a model whose packages are installed gets a request, and its failure is reported", async () => {
  await leaveOut("@ai-sdk/mistral");
  expect(await program(ask("openai/some-model"))).toContain("Cannot connect to API");
});

test.each([
  ["graph", "svg", "@hpcc-js/wasm-graphviz"],
  ["matrices", "png", "@resvg/resvg-wasm"],
])(
  "for a picture (%s) as %s without `%s`, the error names the install command in one sentence",
  async (picture, ending, missing) => {
    const draw = ["gnn", "draw", "model.md", "--picture", picture, "-o", `picture.${ending}`];
    await leaveOut(missing);
    expect(await command(...draw)).toMatch(sentence(missing));
    await link(missing);
    expect(await command(...draw)).not.toContain("The extra");
  },
);

test("a vendor's own client gets the same message for a missing package", async () => {
  const said = await program(`import { LLMWithMCPTools } from "toolyard/agent";
const client = { chat: { completions: { create: () => ({}) } } };
const server = { listTools: async () => [], callTool: async () => ({}) };
const told = await new LLMWithMCPTools(client, server).chat("hello").catch((error) => error.message);
console.log(told);
`);
  expect(said).toMatch(sentence("@ai-sdk/openai"));
});

test("a library without `libsql` reports it if Node has no SQLite, and opens otherwise", async () => {
  await leaveOut("libsql");
  const said = await command("library", "list");
  if (isBuiltin("node:sqlite")) expect(said).not.toContain("The extra");
  else expect(said).toMatch(sentence("libsql"));
  if (!existsSync(join(modules, "libsql"))) await link("libsql");
  expect(await command("library", "list")).not.toContain("The extra");
});
