// Compiled, never run: types of lists, outcomes and settings.
import type { ContentBlock, CreateHubOptions, LibraryHub } from "toolyard";

function accept<T>(_value: T): void {}

export async function lists(hub: LibraryHub): Promise<void> {
  const [tool] = await hub.list();
  accept<string | undefined>(tool?.name);
  accept<boolean | undefined>(tool?.annotations?.readOnlyHint);
  // @ts-expect-error: a name is a string
  accept<number | undefined>(tool?.name);
  accept<string | undefined>((await hub.listResources())[0]?.uri);
  accept<string | undefined>((await hub.listResourceTemplates())[0]?.uriTemplate);
  accept<boolean | undefined>((await hub.listPrompts())[0]?.arguments?.[0]?.required);
}

export async function results(hub: LibraryHub): Promise<void> {
  const outcome = await hub.call("a", { b: 1 });
  // @ts-expect-error: a failure has no result of this kind
  accept<object>(outcome.result.content);
  if (outcome.ok) {
    for (const block of outcome.result.content) accept<string | undefined>(textOf(block));
    // Programs that were written before the result had a type still compile.
    accept<{ text: string }[]>(outcome.result["content"] as { text: string }[]);
  } else accept<string>(outcome.message);
}

function textOf(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  if (block.type === "image" || block.type === "audio") return block.data;
  return block.type === "resource_link" ? block.uri : block.resource.text;
}

export async function otherResults(hub: LibraryHub): Promise<void> {
  const read = await hub.read("a://b");
  if (read.ok) accept<string | undefined>(read.result.contents[0]?.text);
  const prompt = await hub.prompt("p");
  if (prompt.ok) accept<"user" | "assistant" | undefined>(prompt.result.messages[0]?.role);
  const completed = await hub.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "b" });
  if (completed.ok) accept<readonly string[]>(completed.result.completion.values);
}

export const settings: CreateHubOptions = {
  settings: {
    server: { port: 0, tokens: { ada: { token: "a-long-enough-token", allow: ["files__*"] } } },
    mcp: { stdio_servers: { files: { command: ["npx", "-y", "x"], env: { A: "b" } } } },
    logging: { level: "warning" },
  },
};
// @ts-expect-error: there is no such section
export const unknownSection: CreateHubOptions = { settings: { sever: {} } };
// @ts-expect-error: there is no such option
export const unknownOption: CreateHubOptions = { settings: { server: { prot: 1 } } };
// @ts-expect-error: a level is one of a few words
export const wrongLevel: CreateHubOptions = { settings: { logging: { level: "loud" } } };
