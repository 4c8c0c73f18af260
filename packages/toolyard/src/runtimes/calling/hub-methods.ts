import { FailError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ImageRequest, TextRequest } from "../../core/ports/models.ts";
import { fail } from "../../core/calls/outcome.ts";
import { resourceValue, toolValue } from "../../core/calls/tool-value.ts";
import type { HubAccess } from "./hub-access.ts";
import { firstChars } from "../../core/text/truncate.ts";

type HubMethod = (params: JsonObject, access: HubAccess, signal: AbortSignal) => Promise<JsonObject>;

const DEFAULT_HITS = 5;
const MAX_HITS = 100;

/** Methods of the hub that code in a child process can call. */
const METHODS: Readonly<Record<string, HubMethod>> = {
  "tools/call": callTool,
  "tools/list": async (_params, access) => ({ tools: await access.list() }),
  "tools/search": searchTools,
  "resources/read": readResource,
  "models/generate_text": generateText,
  "models/generate_image": generateImage,
};

/** Answers a request. Rejects with a `FailError`. */
export function answerRequest(
  { method, params }: { readonly method: string; readonly params: JsonObject },
  access: HubAccess,
  signal: AbortSignal,
): Promise<JsonObject> {
  const run = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (run) return run(params, access, signal);
  return Promise.reject(
    new FailError(
      fail(
        "unknown_tool",
        `Unknown method \`${firstChars(method, 100)}\`. Known methods are ${Object.keys(METHODS).join(", ")}.`,
      ),
    ),
  );
}

/**
 * Handles `{name, arguments?, as?}`. With `as: "value"` the answer is `{value}`, the plain value of the result;
 * otherwise the MCP result.
 */
async function callTool(
  { name, arguments: given, as }: JsonObject,
  access: HubAccess,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (typeof name !== "string" || name === "") throw invalid("`name` must be the name of a tool");
  const args = given ?? {};
  if (!isJsonObject(args)) throw invalid("`arguments` must be an object");
  const outcome = await access.call(name, args, signal);
  if (!outcome.ok) throw new FailError(outcome);
  return as === "value" ? { value: toolValue(outcome.result) } : outcome.result;
}

/** Handles `{uri, as?}`. With `as: "value"` the answer is `{value}`, the plain content; otherwise the MCP result. */
async function readResource({ uri, as }: JsonObject, access: HubAccess, signal: AbortSignal): Promise<JsonObject> {
  if (typeof uri !== "string" || uri === "") throw invalid("`uri` must be the URI of a resource");
  const outcome = await access.read(uri, signal);
  if (!outcome.ok) throw new FailError(outcome);
  return as === "value" ? { value: resourceValue(outcome.result) } : outcome.result;
}

/**
 * Handles `{query?, limit?}`; the answer is `{tools: [{name, description, score, inputSchema}], total}`, best first.
 */
async function searchTools({ query = "", limit = DEFAULT_HITS }: JsonObject, access: HubAccess): Promise<JsonObject> {
  if (typeof query !== "string") throw invalid("`query` must be a string");
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)
    throw invalid("`limit` must be a whole number above 0");
  const { hits, total } = await access.search(query, Math.min(limit, MAX_HITS));
  return { tools: hits, total };
}

/** Handles `{prompt, system?, max_tokens?, temperature?, model?}`; the answer is `{text}`. */
async function generateText(params: JsonObject, { models, meta }: HubAccess, signal: AbortSignal): Promise<JsonObject> {
  if (!models.generateText) throw noModel("language model");
  const system = text(params, "system");
  const maxTokens = count(params, "max_tokens");
  const temperature = amount(params, "temperature");
  const model = text(params, "model");
  const request: TextRequest = {
    ...(meta && { meta }),
    prompt: prompt(params),
    ...(system === undefined ? {} : { system }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(model === undefined ? {} : { model }),
  };
  return { ...(await models.generateText(request, signal)) };
}

/**
 * Handles `{prompt, negative_prompt?, width?, height?, model?}`; the answer is `{data, mimeType}`, the data in base64.
 */
async function generateImage(
  params: JsonObject,
  { models, meta }: HubAccess,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (!models.generateImage) throw noModel("image model");
  const negativePrompt = text(params, "negative_prompt");
  const width = count(params, "width");
  const height = count(params, "height");
  const model = text(params, "model");
  const request: ImageRequest = {
    ...(meta && { meta }),
    prompt: prompt(params),
    ...(negativePrompt === undefined ? {} : { negativePrompt }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(model === undefined ? {} : { model }),
  };
  const { data, mimeType } = await models.generateImage(request, signal);
  return { data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64"), mimeType };
}

function noModel(what: string): FailError {
  return new FailError(
    fail("unavailable", `No ${what} is configured, so nothing was generated. Configure one in [models].`, {
      retryable: false,
    }),
  );
}

function prompt(params: JsonObject): string {
  const given = text(params, "prompt");
  if (given === undefined || given === "") throw invalid("`prompt` must be a text");
  return given;
}

function text(params: JsonObject, key: string): string | undefined {
  const value = params[key] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw invalid(`\`${key}\` must be a text`);
}

function count(params: JsonObject, key: string): number | undefined {
  const value = amount(params, key);
  if (value === undefined || (Number.isInteger(value) && value > 0)) return value;
  throw invalid(`\`${key}\` must be a whole number above 0`);
}

function amount(params: JsonObject, key: string): number | undefined {
  const value = params[key] ?? undefined;
  if (value === undefined || typeof value === "number") return value;
  throw invalid(`\`${key}\` must be a number`);
}

function invalid(message: string): FailError {
  return new FailError(fail("invalid_params", `The request cannot be understood: ${message}.`));
}
