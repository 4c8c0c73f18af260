import { holdsBigInt, stringifyExact } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject, listMember, stringMember } from "../core/json/json.ts";
import type { Fail, Outcome } from "../core/calls/outcome.ts";
import { toolValue } from "../core/calls/tool-value.ts";
import type { ToolResultPart, UserContent } from "./messages.ts";
import type { AgentTexts } from "./texts.ts";
import { cutText } from "./text-size.ts";

export type ToolOutput = ToolResultPart["output"];
type Attachment = Exclude<UserContent, string>[number];

export interface OutputRules {
  readonly maxBytes: number;
  /** Media types that the vendor accepts in a tool result. */
  readonly inResult: RegExp;
  /** Media types that the vendor accepts in a user message that follows the result. */
  readonly inMessage: RegExp;
  /** True if plain text is written as a JSON string too. */
  readonly isAlwaysJson: boolean;
  readonly texts: AgentTexts;
}

/** A tool's outcome in the form for the model. */
export interface ModelOutput {
  readonly output: ToolOutput;
  /** Images and other content that the vendor does not accept in a tool result. They are sent in a user message. */
  readonly attachments: readonly Attachment[];
}

export function toModelOutput(outcome: Outcome, rules: OutputRules): ModelOutput {
  if (!outcome.ok) return { output: toErrorOutput(outcome, rules), attachments: [] };
  const blocks = blocksOf(outcome.result);
  return blocks.some(mediaOf)
    ? withMedia(blocks, rules)
    : { output: toPlainOutput(toolValue(outcome.result), rules), attachments: [] };
}

/**
 * Converts a failure to an object with `error`, on which a model can act: the message, the error code, whether a retry
 * can help, similar names, and faults of the arguments.
 */
export function toErrorObject({ message, kind, retryable, retryAfterMs, details, result }: Fail): JsonObject {
  const said = result === undefined ? undefined : toolValue(result);
  // A tool's own error object is passed on unchanged.
  if (isJsonObject(said) && typeof said["error"] === "string") return said;
  const words = typeof said === "string" && said !== "" ? said : message;
  return {
    error: words,
    kind,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...details,
    ...(isJsonObject(said) || Array.isArray(said) ? { result: said } : {}),
  };
}

function toErrorOutput(failure: Fail, rules: OutputRules): ToolOutput {
  const value = toErrorObject(failure);
  const text = stringifyExact(value);
  const isWhole = Buffer.byteLength(text) <= rules.maxBytes;
  if (isWhole && !holdsBigInt(value)) return { type: "error-json", value: JSON.parse(text) };
  return { type: "error-text", value: cutWithNote(text, rules) };
}

function toPlainOutput(value: unknown, rules: OutputRules): ToolOutput {
  if (typeof value === "string" && !rules.isAlwaysJson) return { type: "text", value: cutWithNote(value, rules) };
  const text = stringifyExact(value ?? null);
  const isWhole = Buffer.byteLength(text) <= rules.maxBytes;
  // If the value contains a BigInt, its exact text is sent: the AI SDK serialises JSON values with `JSON.stringify`,
  // which rejects a BigInt.
  if (isWhole && !holdsBigInt(value)) return { type: "json", value: JSON.parse(text) };
  return { type: "text", value: cutWithNote(text, rules) };
}

function cutWithNote(text: string, { maxBytes, texts }: Pick<OutputRules, "maxBytes" | "texts">): string {
  const bytes = Buffer.byteLength(text);
  return bytes <= maxBytes ? text : `${cutText(text, maxBytes)}\n${texts.cut(bytes)}`;
}

interface Media {
  readonly type: string;
  readonly base64: string;
}

/** Returns the image, audio or file that a block contains. */
function mediaOf(block: JsonObject): Media | undefined {
  const [data, resource] = [stringMember(block, "data"), block["resource"]];
  if ((block["type"] === "image" || block["type"] === "audio") && data !== undefined)
    return { type: stringMember(block, "mimeType") ?? "application/octet-stream", base64: data };
  if (block["type"] !== "resource" || !isJsonObject(resource)) return undefined;
  const blob = stringMember(resource, "blob");
  return blob === undefined
    ? undefined
    : { type: stringMember(resource, "mimeType") ?? "application/octet-stream", base64: blob };
}

type OutputPart = Extract<ToolOutput, { type: "content" }>["value"][number];

function withMedia(blocks: readonly JsonObject[], rules: OutputRules): ModelOutput {
  const parts: OutputPart[] = [];
  const attachments: Attachment[] = [];
  for (const block of blocks) {
    const media = mediaOf(block);
    if (!media) parts.push({ type: "text", text: cutWithNote(textOf(block), rules) });
    else if (rules.inResult.test(media.type))
      parts.push({
        type: media.type.startsWith("image/") ? "image-data" : "file-data",
        data: media.base64,
        mediaType: media.type,
      });
    else {
      if (rules.inMessage.test(media.type))
        attachments.push({ type: "file", data: media.base64, mediaType: media.type });
      parts.push({
        type: "text",
        text:
          attachments.length > 0 && rules.inMessage.test(media.type)
            ? `[${media.type}]`
            : rules.texts.unseen(media.type, Math.floor((media.base64.length * 3) / 4)),
      });
    }
  }
  const isText = parts.every((part) => part.type === "text");
  // If a result is only text, it is sent as text: some providers do not support content parts and would send them as
  // JSON.
  if (isText)
    return {
      output: toPlainOutput(parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"), rules),
      attachments,
    };
  return { output: { type: "content", value: parts }, attachments };
}

function textOf(block: JsonObject): string {
  const resource = isJsonObject(block["resource"]) ? stringMember(block["resource"], "text") : undefined;
  return stringMember(block, "text") ?? resource ?? stringifyExact(block);
}

function blocksOf(result: JsonObject): readonly JsonObject[] {
  return listMember(result, "content").filter(isJsonObject);
}
