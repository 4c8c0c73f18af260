import { argumentsText, idOf, pieces, usageOf, type ScriptedReply, type Wire } from "./script.ts";

function finishOf({ isCut, calls }: ScriptedReply): string {
  if (isCut) return "length";
  return calls?.length ? "tool_calls" : "stop";
}

function usage(reply: ScriptedReply): object {
  const { input, output } = usageOf(reply);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function toolCalls({ calls = [] }: ScriptedReply): object[] {
  return calls.map((call, index) => ({
    index,
    id: idOf(call, index),
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
  }));
}

function chunk(model: string, delta: object, finish: string | null = null, extra: object = {}): { data: object } {
  return {
    data: {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...extra,
    },
  };
}

/** Chat completions: the older interface of OpenAI, that of Mistral, and that of compatible servers. */
export const openAiChat: Wire = {
  whole: (reply, model) => {
    const calls = toolCalls(reply);
    const message = {
      role: "assistant",
      content: reply.text ?? (calls.length > 0 || reply.refusal !== undefined ? null : ""),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(reply.refusal === undefined ? {} : { refusal: reply.refusal }),
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
      usage: usage(reply),
    };
  },
  events: (reply, model) => {
    const last = chunk(model, {}, finishOf(reply), { usage: usage(reply) });
    const calls = toolCalls(reply).map((call) => chunk(model, { tool_calls: [call] }));
    const words = pieces(reply.text ?? "").map((content) => chunk(model, { content }));
    const declined = reply.refusal === undefined ? [] : [chunk(model, { refusal: reply.refusal })];
    return [
      chunk(model, { role: "assistant", content: "" }),
      ...declined,
      ...words,
      ...calls,
      last,
      { data: "[DONE]" },
    ];
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? "rate_limit_error" : "server_error", param: null, code: null },
  }),
};

/** Mistral uses the same format, with different errors. */
export const mistral: Wire = {
  ...openAiChat,
  error: (status, message) => ({ object: "error", message, type: "error", param: null, code: String(status) }),
};
