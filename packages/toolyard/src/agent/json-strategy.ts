import { stringifyExact } from "../core/json/exact-json.ts";
import type * as ai from "ai";
import { parseDecision } from "./json-decision.ts";
import type { ModelMessage, UserContent } from "./messages.ts";
import { plainRequestOf, toUsage, type ModelSettings } from "./native-strategy.ts";
import type { CallAnswer, ModelRequest, ModelReply, Strategy } from "./reply.ts";
import type { AgentTexts } from "./texts.ts";
import type { ToolOutput } from "./tool-output.ts";
import type { ModelTool } from "./toolset.ts";

type JsonStrategySdk = Omit<typeof ai, "default">;

/**
 * Creates the strategy for a model without tool calling: the prompt lists the tools, and the model replies with a
 * decision in JSON.
 */
export function createJsonStrategy(sdk: JsonStrategySdk, settings: ModelSettings, maxRepairs: number): Strategy {
  const { texts } = settings;
  let calls = 0;
  let repairs = 0;
  return {
    ask: async (question) => {
      const system =
        question.mayCall && question.tools.length > 0
          ? `${question.system}\n\n${describeTools(question.tools, texts)}`
          : question.system;
      const done = await sdk.generateText(
        plainRequestOf(settings, { ...question, system, messages: toPlainMessages(question.messages, texts) }),
      );
      const decision = parseDecision(done.text, () => `json-${(calls += 1)}`);
      const mayRepair =
        decision.action === "none" && question.mayCall && question.tools.length > 0 && repairs < maxRepairs;
      repairs = mayRepair ? repairs + 1 : 0;
      const reply: ModelReply = {
        text: done.text,
        calls: [],
        usage: toUsage(done.usage),
        isCut: done.finishReason === "length",
        finish: done.finishReason,
        messages: [{ role: "assistant", content: done.text }],
        ...(mayRepair ? { repair: texts.noDecision } : {}),
      };
      return heard(decided(reply, decision), question);
    },
    toMessages: (answered) => [{ role: "user", content: answered.flatMap((one) => toParts(one, texts)) }],
  };
}

function decided(reply: ModelReply, decision: ReturnType<typeof parseDecision>): ModelReply {
  if (decision.action === "final") return { ...reply, text: decision.answer };
  if (decision.action === "clarify") return { ...reply, text: decision.question, isQuestion: true };
  return decision.action === "call" ? { ...reply, text: "", calls: decision.calls } : reply;
}

// A partial decision is useless to listeners, so they receive the answer once, when it is complete.
function heard(reply: ModelReply, { emit }: ModelRequest): ModelReply {
  if (reply.calls.length === 0 && reply.repair === undefined && reply.text !== "")
    emit?.({ type: "text", text: reply.text });
  return reply;
}

function describeTools(tools: readonly ModelTool[], { decide }: AgentTexts): string {
  const lines = tools.map(({ name, description, inputSchema }) =>
    stringifyExact({ name, description, arguments: inputSchema }),
  );
  return `Tools:\n${lines.join("\n")}\n\n${decide}`;
}

function toParts({ call, ok, result }: CallAnswer, texts: AgentTexts): Exclude<UserContent, string> {
  const head = ok ? texts.toolResult(call.name) : texts.toolFailure(call.name);
  return [{ type: "text", text: `${head}\n${toText(result.output)}` }, ...result.attachments];
}

function toText(output: ToolOutput): string {
  if (output.type === "content")
    return output.value.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
  if (output.type === "execution-denied") return output.reason ?? "";
  return typeof output.value === "string" ? output.value : stringifyExact(output.value);
}

/** Converts a conversation that began with tool calling to plain text messages. */
function toPlainMessages(messages: readonly ModelMessage[], texts: AgentTexts): readonly ModelMessage[] {
  return messages.map((message): ModelMessage => {
    if (message.role === "tool") {
      const results = message.content.flatMap((part) =>
        part.type === "tool-result" ? [`${texts.toolResult(part.toolName)}\n${toText(part.output)}`] : [],
      );
      return { role: "user", content: results.join("\n\n") };
    }
    if (message.role !== "assistant" || typeof message.content === "string") return message;
    const said = message.content.flatMap((part) => {
      if (part.type === "text") return [part.text];
      return part.type === "tool-call"
        ? [stringifyExact({ action: "call_tool", tool: part.toolName, arguments: part.input })]
        : [];
    });
    return { role: "assistant", content: said.join("\n") };
  });
}
