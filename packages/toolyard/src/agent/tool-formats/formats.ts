import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import { toolValue } from "../../core/calls/tool-value.ts";
import { createToolNames, type ToolNames } from "../tool-names.ts";
import { toErrorObject } from "../tool-output.ts";
import type { Vendor } from "../vendor.ts";
import { rewriteSchema } from "./rewrite-schema.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** A tool from the list of a hub or of an MCP client: in MCP's format, or with `input_schema`. */
export interface ListedTool {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly input_schema?: unknown;
}

/** A call of a hub's tool, converted from a vendor's tool call. */
export type HubCall =
  | { readonly ok: true; readonly id: string; readonly tool: string; readonly arguments: JsonObject }
  /** The call cannot be made; `message` explains this to the model. */
  | { readonly ok: false; readonly id: string; readonly tool: string; readonly message: string };

export interface OpenAITool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject & { readonly type: "object" };
}

export interface GoogleTool {
  readonly functionDeclarations: readonly {
    readonly name: string;
    readonly description: string;
    readonly parameters?: JsonObject;
  }[];
}

/**
 * Converts tools for `tools` of OpenAI's chat completions and compatible APIs.
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { toOpenAITools } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * const tools = toOpenAITools(await hub.list()); // for `chat.completions.create({ tools })`
 * console.log(tools.length);
 * ```
 */
export function toOpenAITools(tools: readonly ListedTool[]): OpenAITool[] {
  return eachTool(tools, "openai", (name, description, parameters) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

/** Converts tools for `tools` of Mistral's chat API. */
export function toMistralTools(tools: readonly ListedTool[]): OpenAITool[] {
  return eachTool(tools, "mistral", (name, description, parameters) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

/**
 * Converts tools for `tools` of Anthropic's messages API.
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { toAnthropicTools } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * const tools = toAnthropicTools(await hub.list()); // for `messages.create({ tools })`
 * console.log(tools.length);
 * ```
 */
export function toAnthropicTools(tools: readonly ListedTool[]): AnthropicTool[] {
  return eachTool(tools, "anthropic", (name, description, schema) => ({
    name,
    description,
    input_schema: { ...schema, type: "object" },
  }));
}

/**
 * Converts tools for `config.tools` of Google's generateContent. For a tool without parameters, the parameters are
 * omitted.
 */
export function toGoogleTools(tools: readonly ListedTool[]): GoogleTool[] {
  const functionDeclarations = eachTool(tools, "google", (name, description, parameters) => ({
    name,
    description,
    ...("properties" in parameters ? { parameters } : {}),
  }));
  return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }];
}

/**
 * Converts a tool call of chat completions (`{id, function: {name, arguments}}`) or of the Responses API (`{call_id,
 * name, arguments}`). `tools` is the list that was converted for the model.
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { fromOpenAIToolCall, toResultText } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * const listed = await hub.list();
 * const call = { id: "1", type: "function", function: { name: "calculator", arguments: '{"expression": "6 * 7"}' } };
 * const wanted = fromOpenAIToolCall(call, listed);
 * console.log(wanted.ok ? toResultText(await hub.call(wanted.tool, wanted.arguments)) : wanted.message);
 * ```
 */
export function fromOpenAIToolCall(call: object, tools: readonly ListedTool[]): HubCall {
  const raw = call as JsonObject;
  const body = objectMember(raw, "function") ?? raw;
  return toHubCall(
    { id: stringMember(raw, "call_id") ?? stringMember(raw, "id"), name: body["name"], args: body["arguments"] },
    tools,
  );
}

/** Converts a tool call of Mistral: `{id, function: {name, arguments}}`, with arguments as text or object. */
export function fromMistralToolCall(call: object, tools: readonly ListedTool[]): HubCall {
  return fromOpenAIToolCall(call, tools);
}

/** Converts a `tool_use` block of Anthropic: `{id, name, input}`. */
export function fromAnthropicToolCall(block: object, tools: readonly ListedTool[]): HubCall {
  const { id, name, input } = block as JsonObject;
  return toHubCall({ id, name, args: input }, tools);
}

/** Converts a `functionCall` of Google: `{name, args, id?}`, with or without the part that contains it. */
export function fromGoogleToolCall(part: object, tools: readonly ListedTool[]): HubCall {
  const { id, name, args } = objectMember(part as JsonObject, "functionCall") ?? (part as JsonObject);
  return toHubCall({ id, name, args }, tools);
}

/**
 * Converts the outcome of a call to a text that every vendor accepts as a tool result: JSON; for a failure an object
 * with `error`.
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { toResultText } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * console.log(toResultText(await hub.call("calculator", { expression: "6 * 7" })));
 * ```
 */
export function toResultText(outcome: Outcome): string {
  return stringifyExact(outcome.ok ? toolValue(outcome.result) : toErrorObject(outcome));
}

function eachTool<T>(
  tools: readonly ListedTool[],
  vendor: Vendor,
  make: (name: string, description: string, schema: JsonObject) => T,
): T[] {
  const names = namesOf(tools);
  return tools.map((tool) => {
    const schema = isJsonObject(tool.inputSchema)
      ? tool.inputSchema
      : isJsonObject(tool.input_schema)
        ? tool.input_schema
        : {};
    return make(
      names.toModel(String(tool.name)),
      typeof tool.description === "string" ? tool.description : "",
      rewriteSchema(schema, vendor),
    );
  });
}

// Name mapping of each list, so that the names of a list are computed once for all calls.
const KNOWN_NAMES = new WeakMap<readonly ListedTool[], ToolNames>();

function namesOf(tools: readonly ListedTool[]): ToolNames {
  const known = KNOWN_NAMES.get(tools) ?? createToolNames(tools.map(({ name }) => String(name)));
  KNOWN_NAMES.set(tools, known);
  return known;
}

function toHubCall(
  { id, name, args }: { readonly id: unknown; readonly name: unknown; readonly args: unknown },
  tools: readonly ListedTool[],
): HubCall {
  const callId = typeof id === "string" ? id : "";
  const spelt = typeof name === "string" ? name : "";
  const tool = namesOf(tools).fromModel(spelt);
  if (tool === undefined)
    return { ok: false, id: callId, tool: spelt, message: `Unknown tool ${JSON.stringify(spelt)}.` };
  const given = typeof args === "string" ? parsed(args) : (args ?? {});
  if (isJsonObject(given)) return { ok: true, id: callId, tool, arguments: given };
  return {
    ok: false,
    id: callId,
    tool,
    message:
      `The arguments of ${spelt} must be one JSON object. Received: ` +
      `${firstChars(typeof args === "string" ? args : stringifyExact(args), 200)}`,
  };
}

function parsed(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
