// The examples with a vendor's client in the guide's page about the agent, against a model that this test scripts.
import { join } from "node:path";
import { symlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { Desk, ROOT } from "../cli/harness.ts";
import { SCRIPTS, SCRIPTS_TOML } from "../cli/files.ts";
import { readPage, readSnippets } from "../docs/snippets.ts";
import { startModels, type ScriptedReply } from "./stand-in.ts";

const EXAMPLES = readSnippets(readPage("docs/guide/develop/agent.md")).filter(
  ({ section, language }) => section === "With a vendor's own client" && language === "ts",
);
const REGISTER = join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js");

async function runExample(start: string, replies: readonly ScriptedReply[]) {
  const example = EXAMPLES.find(({ text }) => text.startsWith(start))!;
  await using models = await startModels(replies);
  await using desk = await Desk.create({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML, "example.ts": example.text });
  await symlink(join(ROOT, "node_modules"), desk.path("node_modules"));
  const env = { OPENAI_API_KEY: "stand-in-key", OPENAI_BASE_URL: `${models.url}/openai/v1` };
  return await desk.runCommand([process.execPath, "--import", REGISTER, desk.path("example.ts")], { env });
}

test("the example with the client of OpenAI calls a tool of the hub, and ends", async () => {
  const ran = await runExample('import OpenAI from "openai"', [
    { calls: [{ name: "work", arguments: { how: "well", text: "42" } }] },
  ]);
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stdout).toMatch(/role: ['"]tool['"],[\s\S]*42/);
});

test("the example with the AI SDK runs the tools itself, and ends", async () => {
  const ran = await runExample('import { openai } from "@ai-sdk/openai"', [
    { calls: [{ name: "work", arguments: { how: "well" } }] },
    { text: "It works." },
  ]);
  expect(ran).toMatchObject({ code: 0, stdout: "It works.\n" });
});
