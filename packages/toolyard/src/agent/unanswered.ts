import type { ModelMessage, ToolModelMessage } from "./messages.ts";

type ResultPart = Extract<ToolModelMessage["content"][number], { type: "tool-result" }>;

/**
 * Completes a conversation as vendors require: each tool call is directly followed by its result, then by text of the
 * assistant. In a conversation that was saved during an answer, or by another program, each call without a result gets
 * a result with the text `words`.
 */
export function answerAll(messages: readonly ModelMessage[], words: string): readonly ModelMessage[] {
  const whole: ModelMessage[] = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index]!;
    whole.push(message);
    const calls = callsOf(message);
    if (calls.length === 0) continue;
    const given: ToolModelMessage[] = [];
    for (let next = messages[index + 1]; next?.role === "tool"; next = messages[index + 1]) {
      given.push(next);
      index += 1;
    }
    const answered = new Set(
      given.flatMap(({ content }) => content.map((part) => ("toolCallId" in part ? part.toolCallId : ""))),
    );
    const missing = calls.filter(({ toolCallId }) => !answered.has(toolCallId));
    whole.push(...given);
    if (missing.length === 0) continue;
    whole.push({
      role: "tool",
      content: missing.map(({ toolCallId, toolName }): ResultPart => ({
        type: "tool-result",
        toolCallId,
        toolName,
        output: { type: "error-json", value: { error: words } },
      })),
    });
    if (messages[index + 1]?.role !== "assistant") whole.push({ role: "assistant", content: words });
  }
  return whole;
}

function callsOf({
  role,
  content,
}: ModelMessage): readonly { readonly toolCallId: string; readonly toolName: string }[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content
    .filter((part) => part.type === "tool-call")
    .filter(({ providerExecuted }) => providerExecuted !== true);
}
