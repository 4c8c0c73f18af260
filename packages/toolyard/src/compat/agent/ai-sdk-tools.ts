import { spellBigInts } from "../../core/json/exact-json.ts";
import type { AgentHub } from "../../agent/agent-hub.ts";
import type { ToolResultOutput } from "../../agent/messages.ts";
import { TEXTS } from "../../agent/texts.ts";
import { rewriteSchema } from "../../agent/tool-formats/rewrite-schema.ts";
import { createToolNames } from "../../agent/tool-names.ts";
import { toErrorObject, toModelOutput, type OutputRules } from "../../agent/tool-output.ts";
import { FailError, OptionError } from "../../core/errors.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { ok } from "../../core/calls/outcome.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { toAgentHub, type ToolCaller } from "./agent-hub.ts";

export interface AiSdkToolsOptions {
  /**
   * Tools to return. `normal`: tools in the hub's list; `all`: also on-demand tools; `discovery`: the tools that search
   * and call. @default "normal"
   */
  readonly mode?: "normal" | "all" | "discovery";
  /** Maximum size of the text of one result for the model, in bytes. @default 102400 */
  readonly maxResultBytes?: number;
}

/** A tool for `tools` of `generateText` and `streamText`. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  /** Calls the tool and resolves with the MCP result. Rejects with a `FailError` with a message for the model. */
  readonly execute: (
    input: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<JsonObject>;
  readonly toModelOutput: (options: { readonly output: unknown }) => ToolResultOutput;
}

export type AiSdkTools = Record<string, AiSdkTool>;

/**
 * Schema of a tool, typed as a Standard Schema, which needs no types of the SDK. At run time the SDK finds its own
 * marker first and uses `jsonSchema` unchanged.
 */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly types?: { readonly input: unknown; readonly output: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
  readonly jsonSchema: JsonObject;
}

/**
 * Returns the tools of a hub, an `MCPClient` or an `MCPManager` for the AI SDK, with names that every vendor accepts.
 * The hub checks and limits each call. It cancels the calls of an answer that is cancelled. Lists the tools once; call
 * this function again to include tools that were added later.
 *
 * @example
 * ```ts
 * import { createHub } from "toolyard";
 * import { toAiSdkTools } from "toolyard/agent";
 *
 * await using hub = await createHub({ config: "toolyard.toml" });
 * const tools = await toAiSdkTools(hub); // for `generateText({ tools })`
 * console.log(Object.keys(tools));
 * ```
 */
export async function toAiSdkTools(hub: Toolyard | ToolCaller, options: AiSdkToolsOptions = {}): Promise<AiSdkTools> {
  const { mode = "normal", maxResultBytes = 100 * 1024 } = options;
  if (!isJsonObject(hub) || !("call" in hub || "callTool" in hub))
    throw new OptionError("`toAiSdkTools` requires a hub, or a client with `listTools` and `callTool`.");
  const caller = await toAgentHub(hub as unknown as Toolyard).open();
  const listed = await caller.list({ mode });
  const names = createToolNames(listed.map(({ name }) => String(name)));
  const rules: OutputRules = {
    maxBytes: maxResultBytes,
    isAlwaysJson: false,
    texts: TEXTS.en,
    inResult: /^image\/(?:png|jpeg|gif|webp)$|^application\/pdf$/,
    inMessage: /(?!)/,
  };
  return Object.fromEntries(
    listed.map((tool) => [names.toModel(String(tool["name"])), toTool(caller, tool, rules)] as const),
  );
}

function toTool(hub: AgentHub, tool: JsonObject, rules: OutputRules): AiSdkTool {
  return {
    description: stringMember(tool, "description") ?? "",
    inputSchema: toSchema(rewriteSchema(objectMember(tool, "inputSchema") ?? {}, "compatible")),
    execute: async (input, { abortSignal }) => {
      const signal = abortSignal ?? new AbortController().signal;
      const outcome = await hub.call(String(tool["name"]), isJsonObject(input) ? input : {}, { signal });
      // The AI SDK serialises results with `JSON.stringify`, which rejects a BigInt.
      if (outcome.ok) return spellBigInts(outcome.result) as JsonObject;
      throw new FailError({ ...outcome, message: String(toErrorObject(outcome)["error"]) });
    },
    toModelOutput: ({ output }) => toModelOutput(ok(isJsonObject(output) ? output : {}), rules).output,
  };
}

function toSchema(jsonSchema: JsonObject): AiSdkSchema {
  // Accepts all arguments, because the hub validates them and reports errors that a model can understand.
  const validate = (value: unknown): { readonly value: unknown } => ({ value });
  const say = (): JsonObject => jsonSchema;
  const schema = {
    "~standard": { version: 1 as const, vendor: "toolyard", validate, jsonSchema: { input: say, output: say } },
    jsonSchema,
    validate: undefined,
  };
  return Object.assign(schema, { [Symbol.for("vercel.ai.schema")]: true });
}
