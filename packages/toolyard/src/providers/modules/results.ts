import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import { rememberValue, resultText } from "../../core/calls/tool-value.ts";

/** Converts a tool handler's return value to an outcome, by the rule of `ToolHandler` in api.ts. */
export function toToolOutcome(value: unknown, tool: string): Outcome | Promise<Outcome> {
  if (value === undefined || value === null) return ok({ content: [] });
  if (typeof value === "string") return ok({ content: [{ type: "text", text: value }] });
  return isMcpResult(value, "content") ? mcpOutcome(value) : outcomeOf(value, tool);
}

async function outcomeOf(value: unknown, tool: string): Promise<Outcome> {
  const bytes = await bytesOf(value);
  if (bytes) return ok({ content: [binaryBlock(bytes, tool)] });
  const text = jsonText(value);
  if (text === undefined)
    return fail(
      "tool_error",
      `Error executing tool '${tool}': it returned a value that is not JSON (${typeof value}).`,
    );
  const content = [{ type: "text", text }];
  const plain: unknown = parseExact(text);
  return ok(isJsonObject(plain) ? { content, structuredContent: plain } : rememberValue({ content }, plain));
}

/** Converts a retriever's return value. Returns `undefined` if the value means that there is no such resource. */
export async function toContents(
  value: unknown,
  uri: string,
  mimeType: string | undefined,
): Promise<JsonObject | undefined> {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return { contents: [{ uri, mimeType: mimeType ?? "text/plain", text: value }] };
  if (isMcpResult(value, "contents")) return value;
  const bytes = await bytesOf(value);
  if (bytes) return { contents: [{ uri, mimeType: mimeType ?? bytes.mimeType, blob: bytes.data }] };
  const text = jsonText(value);
  if (text === undefined) throw new Error(`the retriever returned a value that is not JSON (${typeof value})`);
  return { contents: [{ uri, mimeType: mimeType ?? "application/json", text }] };
}

/** Converts a prompt handler's return value. */
export function toPromptResult(value: unknown, description: string | undefined): JsonObject {
  if (isMcpResult(value, "messages")) return value;
  const about = description === undefined ? {} : { description };
  if (Array.isArray(value)) return { ...about, messages: value };
  if (typeof value === "string")
    return { ...about, messages: [{ role: "user", content: { type: "text", text: value } }] };
  throw new Error("a prompt's handler returns a string, a list of messages, or `{messages}`");
}

function isMcpResult(value: unknown, member: string): value is JsonObject {
  return isJsonObject(value) && (Array.isArray(value[member]) || value["resultType"] === "input_required");
}

function mcpOutcome(result: JsonObject): Outcome {
  if (result["isError"] !== true) return ok(result);
  return fail("tool_error", resultText(result), { result });
}

interface Bytes {
  readonly mimeType: string;
  readonly data: string;
}

async function bytesOf(value: unknown): Promise<Bytes | undefined> {
  if (value instanceof Blob)
    return { mimeType: value.type || OCTETS, data: Buffer.from(await value.arrayBuffer()).toString("base64") };
  if (value instanceof ArrayBuffer) return { mimeType: OCTETS, data: Buffer.from(value).toString("base64") };
  if (!ArrayBuffer.isView(value)) return undefined;
  return { mimeType: OCTETS, data: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
}

const OCTETS = "application/octet-stream";

function binaryBlock({ mimeType, data }: Bytes, tool: string): JsonObject {
  const [family] = mimeType.split("/");
  if (family === "image" || family === "audio") return { type: family, data, mimeType };
  return { type: "resource", resource: { uri: `result://${encodeURIComponent(tool)}`, mimeType, blob: data } };
}

function jsonText(value: unknown): string | undefined {
  return stringifyExact(value) as string | undefined;
}
