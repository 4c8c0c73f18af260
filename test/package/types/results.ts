// Compiled, never run: what lists and outcomes are, and which settings there are.
import { createHub, type CreateHubOptions } from "toolyard";

export async function check(): Promise<void> {
  const hub = await createHub();
  const [tool] = await hub.list();
  export_<string | undefined>(tool?.name);
  export_<boolean | undefined>(tool?.annotations?.readOnlyHint);
  // @ts-expect-error: a name is a string
  export_<number | undefined>(tool?.name);
  export_<string | undefined>((await hub.listResources())[0]?.uri);
  export_<string | undefined>((await hub.listResourceTemplates())[0]?.uriTemplate);
  export_<boolean | undefined>((await hub.listPrompts())[0]?.arguments?.[0]?.required);

  const outcome = await hub.call("a", { b: 1 });
  // @ts-expect-error: a failure has no result of this kind
  export_<object>(outcome.result.content);
  if (outcome.ok) {
    for (const block of outcome.result.content) {
      if (block.type === "text") export_<string>(block.text);
      else if (block.type === "image" || block.type === "audio") export_<string>(block.data);
      else if (block.type === "resource_link") export_<string>(block.uri);
      else export_<string | undefined>(block.resource.text);
    }
    // Programs that were written before the result had a type.
    export_<{ text: string }[]>(outcome.result["content"] as { text: string }[]);
  } else export_<string>(outcome.message);

  const read = await hub.read("a://b");
  if (read.ok) export_<string | undefined>(read.result.contents[0]?.text);
  const prompt = await hub.prompt("p");
  if (prompt.ok) export_<"user" | "assistant" | undefined>(prompt.result.messages[0]?.role);
  const completed = await hub.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "b" });
  if (completed.ok) export_<readonly string[]>(completed.result.completion.values);
}

function export_<T>(_value: T): void {}

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
