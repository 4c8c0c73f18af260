import { argumentsText, idOf, pieces, usageOf, type ScriptedReply, type Wire } from "./script.ts";

function items(reply: ScriptedReply): object[] {
  const words = reply.refusal ?? reply.text;
  const part =
    reply.refusal === undefined
      ? { type: "output_text", text: words, annotations: [] }
      : { type: "refusal", refusal: words };
  return [
    ...(words === undefined
      ? []
      : [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] }]),
    ...(reply.calls ?? []).map((call, index) => ({
      id: `fc_${index}`,
      type: "function_call",
      status: "completed",
      call_id: idOf(call, index),
      name: call.name,
      arguments: argumentsText(call),
    })),
  ];
}

function response(reply: ScriptedReply, model: string, status: string, output: object[]): object {
  const { input, output: written } = usageOf(reply);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + written,
  };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model,
    status,
    output,
    incomplete_details: reply.isCut ? { reason: "max_output_tokens" } : null,
    error: null,
    usage,
  };
}

/** Responses: the newer interface of OpenAI. */
export const openAiResponses: Wire = {
  whole: (reply, model) => response(reply, model, reply.isCut ? "incomplete" : "completed", items(reply)),
  events: (reply, model) => {
    const done = items(reply);
    const events: { event: string; data: object }[] = [
      {
        event: "response.created",
        data: { type: "response.created", response: response(reply, model, "in_progress", []) },
      },
    ];
    const add = (type: string, data: object): void => void events.push({ event: type, data: { type, ...data } });
    done.forEach((item, output_index) => {
      const { id, type } = item as { id: string; type: string };
      add("response.output_item.added", {
        output_index,
        item:
          type === "message"
            ? { ...item, status: "in_progress", content: [] }
            : { ...item, status: "in_progress", arguments: "" },
      });
      if (type === "message")
        for (const delta of pieces(reply.text ?? ""))
          add("response.output_text.delta", { item_id: id, output_index, content_index: 0, delta });
      else
        add("response.function_call_arguments.delta", {
          item_id: id,
          output_index,
          delta: (item as { arguments: string }).arguments,
        });
      add("response.output_item.done", { output_index, item });
    });
    const type = reply.isCut ? "response.incomplete" : "response.completed";
    add(type, { response: response(reply, model, reply.isCut ? "incomplete" : "completed", done) });
    return events;
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? "rate_limit_error" : "server_error", param: null, code: null },
  }),
};
