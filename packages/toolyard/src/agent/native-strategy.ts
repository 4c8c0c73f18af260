import { holdsBigInt, parseExact, stringifyExact } from "../core/json/exact-json.ts";
import type * as ai from "ai";
import type { LanguageModelUsage, ToolSet } from "ai";
import type { LoadedLanguageModel } from "../models/given-model.ts";
import { toSdkModel } from "../models/sdk-model.ts";
import { isJsonObject } from "../core/json/json.ts";
import type { AssistantModelMessage, ModelMessage } from "./messages.ts";
import type { AgentUsage } from "./outcome.ts";
import type { CallAnswer, ModelRequest, Strategy, WantedCall } from "./reply.ts";
import type { AgentTexts } from "./texts.ts";
import { rewriteSchema } from "./tool-formats/rewrite-schema.ts";
import type { ModelTool } from "./toolset.ts";
import { noteToolInputs, type ToolInputs } from "./tool-inputs.ts";
import { vendorOf } from "./vendor.ts";

type NativeStrategySdk = Omit<typeof ai, "default">;

export interface ModelSettings {
  readonly model: LoadedLanguageModel;
  readonly maxRetries: number;
  readonly maxReplyTokens?: number;
  readonly texts: AgentTexts;
}

/**
 * Creates the strategy that uses the provider's tool calling. The AI SDK sends one request per step; the turn runs the
 * calls in the reply.
 */
export function createNativeStrategy(sdk: NativeStrategySdk, settings: ModelSettings): Strategy {
  // While the catalog does not change, the hub returns the same list object, so each list is converted once.
  const ready = new WeakMap<readonly ModelTool[], ToolSet>();
  const toolsOf = (tools: readonly ModelTool[]): ToolSet => {
    const known = ready.get(tools) ?? toToolSet(sdk, tools, settings.model);
    ready.set(tools, known);
    return known;
  };
  return {
    ask: async (question) => {
      const inputs: ToolInputs = new Map();
      const model = noteToolInputs(settings.model, inputs);
      const asked = requestOf(toolsOf(question.tools), { ...settings, model }, question);
      const done = question.emit
        ? await streamed(sdk.streamText(withoutConsole(asked)), question.signal, question.emit)
        : await sdk.generateText(asked);
      const toolCalls = await done.toolCalls;
      const { messages } = await done.response;
      const finish = await done.finishReason;
      return {
        text: await done.text,
        calls: toolCalls.filter((call) => !call.providerExecuted).map((call) => toWanted(call, inputs)),
        usage: toUsage(await done.usage),
        isCut: finish === "length",
        finish,
        messages: messages.filter((message): message is AssistantModelMessage => message.role === "assistant"),
      };
    },
    toMessages: (answered) => toToolMessages(answered, settings.texts),
  };
}

/** Returns the request options that all strategies share. */
export function plainRequestOf(
  { model, maxRetries, maxReplyTokens }: ModelSettings,
  { system, messages, signal }: ModelRequest,
) {
  return {
    model: toSdkModel(model),
    ...(system === "" ? {} : { system }),
    messages: [...messages],
    abortSignal: signal,
    maxRetries,
    // URLs of files are fetched or refused by the provider: this process downloads nothing that a caller names.
    experimental_download: (wanted: readonly unknown[]) => Promise.resolve(wanted.map(() => null)),
    // The history contains the whole conversation, so the provider need not store it.
    providerOptions: { openai: { store: false } },
    ...(maxReplyTokens === undefined ? {} : { maxOutputTokens: maxReplyTokens }),
  };
}

function requestOf(tools: ToolSet, settings: ModelSettings, question: ModelRequest) {
  return {
    ...plainRequestOf(settings, question),
    ...(question.tools.length === 0
      ? {}
      : { tools, toolChoice: question.mayCall ? ("auto" as const) : ("none" as const) }),
  };
}

function toToolSet(
  { tool, jsonSchema }: NativeStrategySdk,
  tools: readonly ModelTool[],
  model: LoadedLanguageModel,
): ToolSet {
  const vendor = vendorOf(model);
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(rewriteSchema(inputSchema, vendor)) }),
    ]),
  );
}

type NativeRequest = ReturnType<typeof requestOf>;

/** Errors arrive in the stream. Without this handler the SDK writes them to the console. */
function withoutConsole(asked: NativeRequest) {
  return { ...asked, onError: () => {} };
}

async function streamed(
  result: ReturnType<NativeStrategySdk["streamText"]>,
  signal: AbortSignal,
  emit: NonNullable<ModelRequest["emit"]>,
) {
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") emit({ type: "text", text: part.text });
    else if (part.type === "reasoning-delta") emit({ type: "reasoning", text: part.text });
    else if (part.type === "error") throw part.error;
    else if (part.type === "abort") break;
  }
  signal.throwIfAborted();
  return result;
}

interface SdkCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

function toWanted({ toolCallId: id, toolName: name, input: parsed }: SdkCall, inputs: ToolInputs): WantedCall {
  const input = exactInput(parsed, inputs.get(id));
  if (isJsonObject(input)) return { id, name, arguments: input };
  // Some models omit the arguments if there are none.
  if (input === undefined || input === null || input === "") return { id, name, arguments: {} };
  return { id, name, received: typeof input === "string" ? input : stringifyExact(input) };
}

/**
 * Returns the input with its integers in full precision, read from the text. If the text does not match the parsed
 * object, returns the SDK's value.
 */
function exactInput(parsed: unknown, text: string | undefined): unknown {
  if (!isJsonObject(parsed) || text === undefined) return parsed;
  try {
    const exact = parseExact(text);
    return holdsBigInt(exact) ? exact : parsed;
  } catch {
    return parsed;
  }
}

export function toUsage({ inputTokens = 0, outputTokens = 0, totalTokens }: LanguageModelUsage): AgentUsage {
  return { inputTokens, outputTokens, totalTokens: totalTokens ?? inputTokens + outputTokens };
}

function toToolMessages(answered: readonly CallAnswer[], texts: AgentTexts): readonly ModelMessage[] {
  const content = answered.map(({ call, result }) => ({
    type: "tool-result" as const,
    toolCallId: call.id,
    toolName: call.name,
    output: result.output,
  }));
  const attached = answered.flatMap(({ call, result }) =>
    result.attachments.length === 0
      ? []
      : [{ type: "text" as const, text: texts.attached(call.name) }, ...result.attachments],
  );
  return [{ role: "tool", content }, ...(attached.length === 0 ? [] : [{ role: "user" as const, content: attached }])];
}
