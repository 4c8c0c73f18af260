import { expect, test } from "vitest";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { runChatCommand } from "./chat-commands.ts";

let cleared = 0;
const TOOLS = [
  { name: "weather", description: "The weather of a city." },
  { name: "mail.send", description: "Sends a mail." },
];
const toolyard = {
  list: () => Promise.resolve(TOOLS),
  search: (query: string) =>
    Promise.resolve({ hits: TOOLS.filter(({ name }) => name.includes(query)).map((tool) => ({ ...tool, score: 1 })) }),
} as unknown as Pick<Toolyard, "list" | "search">;
const run = (line: string) => runChatCommand(line, { toolyard, io: { color: false }, clear: () => (cleared += 1) });

test.each(["/help", "/HELP", "/?", "/help please", "/help  "])("shows the commands for %j", async (line) => {
  const result = await run(line);
  expect(result).toMatchObject({ command: "/help", ends: false });
  for (const name of ["/help", "/tools", "/clear", "/exit"]) expect(result!.text).toContain(name);
});

test("`/tools` lists all tools, or those that match a word, and reports if none matches", async () => {
  expect((await run("/tools"))!.text).toMatch(/weather .*\n.*mail\.send/);
  expect((await run("/tools mail"))!.text).not.toContain("weather");
  expect((await run("/tools nothing"))!.text).toBe('No tool matches "nothing".');
});

test("clears the conversation, and ends the chat", async () => {
  cleared = 0;
  expect(await run("/clear")).toEqual({ command: "/clear", text: "", ends: false });
  expect(await run("/new")).toMatchObject({ command: "/clear" });
  expect(cleared).toBe(2);
  for (const line of ["/exit", "/quit", "/bye"]) expect(await run(line)).toMatchObject({ ends: true });
});

test.each([
  ["/tool", "Unknown command /tool. Did you mean /tools?"],
  ["/hlep me", "Unknown command /hlep. Did you mean /help?"],
  ["/model gpt", "Unknown command /model. /help shows"],
  ["/", "Unknown command /."],
  ["//", undefined],
  ["/constructor", "Unknown command /constructor."],
  ["/\u001b[2J", "Unknown command /"],
])("does not send the unknown command %j to the model", async (line, text) => {
  const result = await run(line);
  if (text === undefined) return expect(result).toBeUndefined();
  expect(result).toMatchObject({ ends: false });
  expect(result!.text.startsWith(text)).toBe(true);
  expect(result!.text).not.toContain("\u001b");
});

test.each(["What is /help?", " /help", "/etc/hosts: what is it?", "/tmp/a.txt", "1/2 of it", ""])(
  "sends the line %j to the model",
  async (line) => {
    expect(await run(line)).toBeUndefined();
  },
);
