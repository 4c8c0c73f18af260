import { pieces, usageOf, type ScriptedReply, type Wire } from "./script.ts";

function body(reply: ScriptedReply, parts: object[], finish?: string): object {
  const { input, output } = usageOf(reply);
  return {
    candidates: [
      { index: 0, content: { role: "model", parts }, ...(finish === undefined ? {} : { finishReason: finish }) },
    ],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
  };
}

function finishOf({ isCut, refusal }: ScriptedReply): string {
  if (isCut) return "MAX_TOKENS";
  return refusal === undefined ? "STOP" : "SAFETY";
}

function callParts({ calls = [] }: ScriptedReply): object[] {
  return calls.map(({ name, arguments: args }) => ({ functionCall: { name, args } }));
}

/** generateContent and streamGenerateContent. Arguments are always objects. */
export const google: Wire = {
  whole: (reply) =>
    body(reply, [...(reply.text === undefined ? [] : [{ text: reply.text }]), ...callParts(reply)], finishOf(reply)),
  events: (reply) => [
    ...pieces(reply.text ?? "").map((text) => ({ data: body(reply, [{ text }]) })),
    { data: body(reply, callParts(reply), finishOf(reply)) },
  ],
  error: (status, message) => ({
    error: { code: status, message, status: status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL" },
  }),
};
