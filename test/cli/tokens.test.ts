// `toolyard tokens` and `list --tokens`: estimates of what tool lists cost a model.
import { expect, test } from "vitest";
import { Desk } from "./harness.ts";

const TOOL = (name: string, description: string): string =>
  `export function registerTools(hub) {
  hub.registerTool(${JSON.stringify(name)}, () => "done", { type: "object", properties: { path: { type: "string" } } },
    ${JSON.stringify(description)});
}`;
const FILES = {
  "modules/short/mcp.mjs": TOOL("short.tool", "Reads."),
  "modules/long/mcp.mjs": TOOL("long.tool", "Reads the complete text of a file and returns it. ".repeat(40)),
  "toolyard.toml": '[modules]\npaths = ["modules"]\n[profiles.small]\ntools = ["short.*"]\n',
};

interface Report {
  readonly lists: readonly { readonly profile?: string; readonly tokens: number; readonly discoveryTokens: number }[];
  readonly sources: readonly { readonly source: string; readonly tokens: number }[];
  readonly tools: readonly { readonly name: string; readonly tokens: number; readonly descriptionTokens: number }[];
}

test("tokens reports the cost of each profile's list, of the sources, and the longest definitions first", async () => {
  await using desk = await Desk.create(FILES);
  const [json, text] = await Promise.all([desk.run(["tokens", "--json", "--limit", "2"]), desk.run(["tokens"])]);
  expect(json).toMatchObject({ code: 0, stderr: "" });
  const { lists, sources, tools } = JSON.parse(json.stdout) as Report;
  const [whole, small] = lists;
  expect([whole!.profile, small!.profile]).toEqual([undefined, "small"]);
  expect(whole!.tokens).toBeGreaterThan(small!.tokens + 300);
  expect(whole!.discoveryTokens).toBeLessThan(whole!.tokens);
  expect(tools).toHaveLength(2);
  expect(tools[0]).toMatchObject({ name: "long.tool" });
  expect(tools[0]!.descriptionTokens).toBeGreaterThan(300);
  expect(sources.map(({ source }) => source)).toContain("modules");
  expect(text.stdout).toMatch(/every client +\d+ +\d+ +\d+\nprofile small +\d+/);
});

test("list --tokens shows the tokens of each tool and of the list", async () => {
  await using desk = await Desk.create(FILES);
  const [json, text] = await Promise.all([desk.run(["list", "--tokens", "--json"]), desk.run(["list", "--tokens"])]);
  const entries = JSON.parse(json.stdout) as { name: string; tokens: number }[];
  const total = entries.reduce((sum, { tokens }) => sum + tokens, 0);
  expect(text.stdout).toMatch(/^tool +tokens +description/);
  expect(text.stdout).toContain(`${entries.length} tools, about ${total} tokens`);
});

test.each([
  [["list", "--tokens", "--prompts"], /--tokens counts tools/],
  [["tokens", "--limit", "0"], /--limit must be a whole number/],
])("refuses %j", async (words, message) => {
  await using desk = await Desk.create(FILES);
  expect(await desk.run(words)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
});
