import { argumentsText, idOf, pieces, usageOf, type ScriptedReply, type Wire } from "./script.ts";

function stopOf({ isCut, calls, refusal }: ScriptedReply): string {
  if (isCut) return "max_tokens";
  if (refusal !== undefined) return "refusal";
  return calls?.length ? "tool_use" : "end_turn";
}

function message(reply: ScriptedReply, model: string, content: object[], stop: string | null): object {
  const { input, output } = usageOf(reply);
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: { input_tokens: input, output_tokens: output },
  };
}

/** Messages API. Arguments are an object, so only streams can contain malformed ones. */
export const anthropic: Wire = {
  whole: (reply, model) => {
    const calls = (reply.calls ?? []).map((call, index) => ({
      type: "tool_use",
      id: idOf(call, index),
      name: call.name,
      input: call.arguments,
    }));
    return message(
      reply,
      model,
      [...(reply.text === undefined ? [] : [{ type: "text", text: reply.text }]), ...calls],
      stopOf(reply),
    );
  },
  events: (reply, model) => {
    const events: { event: string; data: object }[] = [];
    const add = (type: string, data: object): void => void events.push({ event: type, data: { type, ...data } });
    add("message_start", { message: message(reply, model, [], null) });
    let index = 0;
    if (reply.text !== undefined) {
      add("content_block_start", { index, content_block: { type: "text", text: "" } });
      for (const text of pieces(reply.text)) add("content_block_delta", { index, delta: { type: "text_delta", text } });
      add("content_block_stop", { index });
      index += 1;
    }
    (reply.calls ?? []).forEach((call, at) => {
      add("content_block_start", {
        index,
        content_block: { type: "tool_use", id: idOf(call, at), name: call.name, input: {} },
      });
      for (const partial_json of pieces(argumentsText(call)))
        add("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
      add("content_block_stop", { index });
      index += 1;
    });
    add("message_delta", {
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: usageOf(reply).output },
    });
    add("message_stop", {});
    return events;
  },
  error: (status, text) => ({
    type: "error",
    error: { type: status === 429 ? "rate_limit_error" : "api_error", message: text },
  }),
};
