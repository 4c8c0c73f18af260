import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientLimits, hubBlock } from "./client-limits.ts";
import { CLIENTS } from "./clients.ts";

const client = (id: string) => CLIENTS.find((one) => one.id === id)!;
let home = "";
beforeAll(async () => void (home = await mkdtemp(join(tmpdir(), "toolyard-limits-"))));
afterAll(() => rm(home, { recursive: true, force: true }));

async function limited(id: string, tree: object): Promise<readonly string[]> {
  return [...(await clientLimits(client(id), join(home, ".file"), tree as never)).keys()];
}

describe("limits that a client's file sets outside its servers", () => {
  const servers = { a: { command: "x" }, b: { command: "y" } };

  test.each([
    [{ mcp: { allowed: ["a"] } }, ["b"]],
    [{ mcp: { excluded: ["a"] } }, ["a"]],
    [{ allowMCPServers: ["b"] }, ["a"]],
    [{ excludeMCPServers: ["b"] }, ["b"]],
    [{ mcp: {} }, []],
  ])("Gemini CLI: the setting %j limits %j", async (tree, names) => {
    expect(await limited("gemini", { mcpServers: servers, ...tree })).toEqual(names);
  });

  test.each([
    [{ tools: { a_delete: false } }, ["a"]],
    [{ tools: { "a_*": false } }, ["a"]],
    [{ tools: { "b*": false } }, ["b"]],
    [{ permission: { "b_*": "deny" } }, ["b"]],
    [{ agent: { plan: { tools: { "a*": false } } } }, ["a"]],
    [{ tools: { write: false, "*": true } }, []],
  ])("OpenCode: the setting %j limits %j", async (tree, names) => {
    expect(await limited("opencode", { mcp: servers, ...tree })).toEqual(names);
  });

  test("Claude Code: rules of its settings limit the server that they name", async () => {
    await mkdir(join(home, ".claude"));
    const rules = { permissions: { deny: ["mcp__a__delete"], allow: ["Bash(ls)"], ask: ["mcp__bb"] } };
    await writeFile(join(home, ".claude", "settings.json"), JSON.stringify(rules));
    expect(await limited("claude-code", { mcpServers: servers })).toEqual(["a"]);
  });

  test("a client without limiting rules limits nothing", async () => {
    expect(await limited("cursor", { mcpServers: servers, mcp: { excluded: ["a"] } })).toEqual([]);
  });
});

test("finds the setting that keeps Gemini CLI from using the hub", () => {
  expect(hubBlock(client("gemini"), { mcp: { allowed: ["a"] } })).toBe("mcp.allowed");
  expect(hubBlock(client("gemini"), { mcp: { allowed: ["a", "toolyard"] } })).toBeUndefined();
  expect(hubBlock(client("cursor"), { mcp: { allowed: ["a"] } })).toBeUndefined();
});
