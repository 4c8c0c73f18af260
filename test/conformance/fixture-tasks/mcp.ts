import { setTimeout as pause } from "node:timers/promises";
import type { ModuleHub, ModuleObject, ToolContext } from "toolyard";

const TEXT = { type: "string" } as const;
const CONFIRM = { type: "object", properties: { confirm: { type: "boolean" } } };
const NAME = { type: "object", properties: { name: TEXT } };

function elicit({ ask }: ToolContext, message: string, requestedSchema: object): Promise<ModuleObject> {
  return ask("elicitation/create", { mode: "form", message, requestedSchema });
}

async function compute({ seconds = 0, label = "work" }: ModuleObject, { signal }: ToolContext): Promise<string> {
  await pause(Number(seconds) * 1000, undefined, { signal });
  return `${String(label)} took ${String(seconds)} s`;
}

async function confirmDelete({ filename }: ModuleObject, context: ToolContext): Promise<string> {
  const { action } = await elicit(context, `Delete ${String(filename)}?`, CONFIRM);
  return action === "accept" ? `Deleted ${String(filename)}` : `Kept ${String(filename)}`;
}

async function askTwice(_args: ModuleObject, context: ToolContext): Promise<string> {
  const asked = ["first", "second"].map((name) => elicit(context, `The ${name} name?`, NAME));
  return (await Promise.all(asked)).map(({ action }) => String(action)).join(", ");
}

async function askAndWork(_args: ModuleObject, context: ToolContext): Promise<string> {
  const { content } = await elicit(context, "What is your name?", NAME);
  await pause(500, undefined, { signal: context.signal });
  return `Hello, ${String((content as ModuleObject)["name"])}!`;
}

function fail(): ModuleObject {
  return { content: [{ type: "text", text: "The job failed." }], isError: true };
}

function failAsRequest(): never {
  throw Object.assign(new Error("The job cannot run."), { code: -32603 });
}

/** The tools that the suite's scenarios for tasks call (SEP-2663). */
export function registerTools(hub: ModuleHub): void {
  const string = { type: "object", properties: { name: TEXT, filename: TEXT } } as const;
  const work = { type: "object", properties: { seconds: { type: "number" }, label: TEXT } } as const;
  const nothing = { type: "object" } as const;
  hub.registerTool("greet", ({ name }) => `Hello, ${name}!`, string, "Greets");
  hub.registerTool("slow_compute", compute, work, "Waits");
  hub.registerTool("failing_job", fail, nothing, "Fails as a tool");
  hub.registerTool("protocol_error_job", failAsRequest, nothing, "Fails as a request");
  hub.registerTool("confirm_delete", confirmDelete, string, "Asks for confirmation");
  hub.registerTool("multi_input", askTwice, nothing, "Sends two concurrent requests");
  hub.registerTool("test_tool_with_task", askAndWork, nothing, "Asks, then works");
}
