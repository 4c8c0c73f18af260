import { isJsonObject } from "../core/json/json.ts";
import type { LoadedLanguageModel } from "../models/given-model.ts";

/** Texts of the tool inputs in one reply of a model, by call id. */
export type ToolInputs = Map<string, string>;

type Generate = (options: never) => PromiseLike<{ readonly content?: unknown }>;
type StreamFunction = (options: never) => PromiseLike<{ readonly stream: ReadableStream<unknown> }>;

/**
 * Wraps a model so that the texts of tool inputs are recorded. The AI SDK parses them with `JSON.parse`, which rounds
 * integers beyond 2^53.
 */
export function noteToolInputs(model: LoadedLanguageModel, inputs: ToolInputs): LoadedLanguageModel {
  const note = (part: unknown): void => {
    if (!isJsonObject(part) || part["type"] !== "tool-call") return;
    const { toolCallId: id, input } = part;
    if (typeof id === "string" && typeof input === "string") inputs.set(id, input);
  };
  const generate: Generate = async (options) => {
    const reply = await (model.doGenerate(options) as ReturnType<Generate>);
    if (Array.isArray(reply.content)) reply.content.forEach(note);
    return reply;
  };
  const stream: StreamFunction = async (options) => {
    const reply = await (model.doStream(options) as ReturnType<StreamFunction>);
    const noting = new TransformStream<unknown, unknown>({
      transform: (part, controller) => {
        note(part);
        controller.enqueue(part);
      },
    });
    return { ...reply, stream: reply.stream.pipeThrough(noting) };
  };
  return new Proxy(model, {
    get(target, name) {
      if (name === "doGenerate") return generate;
      if (name === "doStream") return stream;
      const member: unknown = Reflect.get(target, name, target);
      // The model may be an instance of a class with private members. Its methods must run on the model, not on the
      // proxy.
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
