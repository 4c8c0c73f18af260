import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import { isStatusFailure, rememberValue } from "../../core/calls/tool-value.ts";
import type { Exit } from "../../process/child.ts";
import { firstChars, lastChars } from "../../core/text/truncate.ts";

/** Maximum length of a failed script's output in a message. */
const MAX_REASON_CHARS = 4000;

/**
 * Converts stdout of a successful script to an outcome. A PNG or JPEG becomes an image. Text that is one JSON object
 * becomes a structured result; if it has a list `content` of items with a `type`, it is used as an MCP result.
 * Everything else, including JSON lists, numbers and strings, is text.
 */
export function successOutcome(stdout: Buffer): Outcome {
  const mimeType = imageTypeOf(stdout);
  if (mimeType !== undefined) return ok({ content: [{ type: "image", data: stdout.toString("base64"), mimeType }] });
  const text = stdout.toString("utf8");
  if (isBinary(stdout, text)) {
    return fail(
      "malformed",
      `The script wrote ${stdout.length} bytes of binary data on stdout that are no PNG and no JPEG. ` +
        "Return them with `return_image`, `return_audio` or `return_file` of `toolyard` in Python (`returnImage` … " +
        'of `toolyard/script` in Node), print {"content": [{"type": "image", "data": "<base64>", ' +
        '"mimeType": "image/webp"}]}, or write a file and print its name.',
    );
  }
  const object = jsonObjectOf(text);
  if (!object) return ok(textResult(text.replace(/\r?\n$/, "")));
  if (!isToolResult(object)) return ok({ ...textResult(text.trim()), structuredContent: object });
  return object["isError"] === true ? fail("tool_error", firstText(object), { result: object }) : ok(object);
}

export interface Failure {
  readonly exit: Exit;
  readonly stdout: Buffer;
  /** Last lines of stderr, without paths of this machine. */
  readonly stderr: string;
}

/**
 * Returns the failure of an unsuccessful exit: the exit code and the last lines of stderr, or the MCP result that the
 * script printed before it failed.
 */
export function failureOutcome({ exit, stdout, stderr }: Failure): Outcome {
  const how = exit.code === null ? `was ended by ${exit.signal ?? "a signal"}` : `ended with exit code ${exit.code}`;
  const details: JsonObject = exit.code === null ? { signal: exit.signal } : { exitCode: exit.code };
  const printed = jsonObjectOf(stdout.toString("utf8"));
  if (printed && isToolResult(printed)) {
    const result = { ...printed, isError: true };
    return fail("tool_error", firstText(result) || `The script ${how}.`, { details, result });
  }
  const reason = lastChars(stderr.trim() || stdout.toString("utf8").trim(), MAX_REASON_CHARS);
  const message = reason === "" ? `The script ${how} and wrote nothing on stderr.` : `The script ${how}.\n${reason}`;
  return fail("tool_error", message, { details, result: { ...textResult(message), isError: true } });
}

export function textResult(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

/**
 * Converts the return value of `execute` in a tool folder. `{error, status_code}` with a status from 400 to 599 is a
 * failure on every endpoint.
 */
export function executeOutcome(value: unknown): Outcome {
  if (!isStatusFailure(value)) return valueResult(value);
  const result = { ...textResult(value.error), structuredContent: value, isError: true };
  return fail("tool_error", firstChars(value.error, MAX_REASON_CHARS), { result });
}

/** Converts an exception that ended a function: its type, its message, and the outcome code for its type. */
export function exceptionOutcome({ type, message, kind }: JsonObject, clean: (text: string) => string): Outcome {
  const words = clean(`${String(type)}: ${String(message)}`);
  return fail("tool_error", words, {
    details: { error: type, ...(kind === "timeout" || isTimeout(type) ? { upstreamKind: "timeout" } : {}) },
    result: { ...textResult(words), isError: true },
  });
}

/** Names of exceptions in Python, JavaScript and common HTTP clients that report a timeout. */
const TIMEOUT_TYPE = /(?:timeout|timed_?out|timeoutexpired)(?:error|exception)?$/i;

function isTimeout(type: unknown): boolean {
  return typeof type === "string" && TIMEOUT_TYPE.test(type);
}

/** Converts the return value of a function, by the same rule as printed text. Strings become text without quotes. */
export function valueResult(value: unknown): Outcome {
  if (isJsonObject(value)) {
    if (!isToolResult(value)) return ok({ ...textResult(stringifyExact(value)), structuredContent: value });
    return value["isError"] === true ? fail("tool_error", firstText(value), { result: value }) : ok(value);
  }
  // A result without content means null, on every endpoint and behind every hub.
  if (value === undefined || value === null) return ok({ content: [] });
  return ok(rememberValue(textResult(typeof value === "string" ? value : stringifyExact(value)), value));
}

function isToolResult(object: JsonObject): boolean {
  const content = object["content"];
  return Array.isArray(content) && content.every((item) => isJsonObject(item) && typeof item["type"] === "string");
}

function firstText(result: JsonObject): string {
  const items = result["content"] as readonly JsonObject[];
  const texts = items.flatMap((item) => (typeof item["text"] === "string" ? [item["text"]] : []));
  return firstChars(texts.join("\n"), MAX_REASON_CHARS);
}

function jsonObjectOf(text: string): JsonObject | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return undefined;
  try {
    const value: unknown = parseExact(trimmed);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const IMAGE_SIGNS: readonly (readonly [sign: Buffer, mimeType: string])[] = [
  [Buffer.from("89504e470d0a1a0a", "hex"), "image/png"],
  [Buffer.from("ffd8ff", "hex"), "image/jpeg"],
];

function imageTypeOf(bytes: Buffer): string | undefined {
  return IMAGE_SIGNS.find(([sign]) => bytes.subarray(0, sign.length).equals(sign))?.[1];
}

// Returns whether bytes are no text. Text in another encoding decodes with replacement characters and is still useful;
// text with NUL bytes is not.
function isBinary(bytes: Buffer, text: string): boolean {
  return bytes.includes(0) && text.includes("\uFFFD");
}
