import { parseExact } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, listMember, stringMember } from "../json/json.ts";
import { KIND_META_KEY } from "./kinds.ts";

/**
 * Returns the plain value of a tool's result, for interfaces without content blocks. All of them use this rule:
 *
 * 1. Structured content is the value. SDKs wrap a returned text as `{"result": "<text>"}` beside the same text; if that
 * text is a JSON object or list, it is the value.
 * 2. For a function that the hub itself runs, the value is its return value, with its type.
 * 3. Otherwise each block is a value. A text that is JSON is parsed; any other text stays unchanged. The value of an
 * image, audio or resource is its block. One block gives its value, several give a list, none gives `null`.
 *
 * A text that is a number is parsed only if writing it again gives the same text: `5` is a number, while `1.50`, `007`
 * and an integer beyond 2^53 stay texts.
 */
export function toolValue(result: JsonObject): unknown {
  const structured = result["structuredContent"];
  if (structured !== undefined) return unwrapped(structured, result);
  const typed = TYPED.get(result);
  return typed ? typed.value : oneOrAll(listMember(result, "content").map(blockValue));
}

function unwrapped(structured: unknown, result: JsonObject): unknown {
  if (!isJsonObject(structured) || typeof structured["result"] !== "string") return structured;
  const [block, ...others] = listMember(result, "content");
  const isWrapped = Object.keys(structured).length === 1 && others.length === 0;
  if (!isWrapped || blockText(block) !== structured["result"]) return structured;
  const value = textValue(structured["result"]);
  return typeof value === "object" && value !== null ? value : structured;
}

const TYPED = new WeakMap<JsonObject, { readonly value: unknown }>();

/**
 * Records the value from which a text result was created, because the number 42 and the text `42` have the same text
 * block.
 */
export function rememberValue(result: JsonObject, value: unknown): JsonObject {
  TYPED.set(result, { value });
  return result;
}

/** Failure in the form of the bindings: `{error, status_code}` with a status from 400 to 599. */
export type StatusFailure = JsonObject & { readonly error: string; readonly status_code: number };

export function isStatusFailure(value: unknown): value is StatusFailure {
  if (!isJsonObject(value) || typeof value["error"] !== "string") return false;
  const status = value["status_code"];
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600;
}

/**
 * Returns the message of a failure: the text in `{"error": "…"}`, which many services return, or else the whole text.
 */
export function failureText(text: string): string {
  const value = text.startsWith("{") ? textValue(text) : undefined;
  return isJsonObject(value) && typeof value["error"] === "string" && value["error"] !== "" ? value["error"] : text;
}

/** Returns the message of a result that its tool marked as a failure. */
export function resultText(result: JsonObject): string {
  const texts = listMember(result, "content").flatMap((block) =>
    isJsonObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return texts.join("\n") || "The tool reported an error without a text.";
}

/** Returns the outcome code that an upstream hub added to a failure, as a member of `details`. */
export function kindDetails({ _meta: meta }: JsonObject): { readonly details?: JsonObject } {
  const kind = isJsonObject(meta) ? meta[KIND_META_KEY] : undefined;
  return typeof kind === "string" ? { details: { upstreamKind: kind } } : {};
}

/** Start of every text that is JSON. */
const JSON_START = /^[ \t\n\r]*(?:[[{"\-\d]|true|false|null)/;

/** Parses a text as JSON. Returns the text itself if it is not JSON. */
function textValue(text: string): unknown {
  // Most results are plain text, and an exception of the parser costs more than the rest of a short call.
  if (!JSON_START.test(text)) return text;
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return text;
  }
  return typeof value === "bigint" || (typeof value === "number" && String(value) !== text.trim()) ? text : value;
}

function blockValue(block: unknown): unknown {
  const text = blockText(block);
  return text === undefined ? block : textValue(text);
}

function blockText(block: unknown): string | undefined {
  return isJsonObject(block) && block["type"] === "text" ? stringMember(block, "text") : undefined;
}

function oneOrAll(values: readonly unknown[]): unknown {
  return values.length > 1 ? values : (values[0] ?? null);
}

/**
 * Returns the plain value of a resource's contents. Content with a JSON media type is parsed, other text is a string,
 * and binary content stays an object with `blob`. One content gives its value, several give a list.
 */
export function resourceValue(result: JsonObject): unknown {
  return oneOrAll(listMember(result, "contents").map(contentValue));
}

function contentValue(content: unknown): unknown {
  if (!isJsonObject(content) || typeof content["text"] !== "string") return content;
  return isJsonType(content["mimeType"]) ? textValue(content["text"]) : content["text"];
}

function isJsonType(mimeType: unknown): boolean {
  return typeof mimeType === "string" && /^[^;]*[/+]json\s*(;|$)/i.test(mimeType);
}
