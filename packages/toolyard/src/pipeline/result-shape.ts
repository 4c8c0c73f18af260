import { stringifyExact } from "../core/json/exact-json.ts";
import type { CallMethod } from "../core/calls/call.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { firstChars } from "../core/text/truncate.ts";

/** Result in the form that the method requires, or the reason why it is invalid. */
export type ResultShape = { readonly result: JsonObject } | { readonly wrong: string };

/**
 * Validates a result of the method, and repairs it if the protocol permits that. A valid result stays the same object.
 */
export function shapeResult(method: CallMethod, result: unknown, relaysInput: boolean): ResultShape {
  if (!isJsonObject(result))
    return {
      wrong: `a result that is ${Array.isArray(result) ? "an array" : `${typeof result}`} instead of an object`,
    };
  const resultType = result["resultType"];
  if (resultType !== undefined && resultType !== "complete") return shapeUnfinished(result, resultType, relaysInput);
  return SHAPES[method](result);
}

function shapeUnfinished(result: JsonObject, resultType: unknown, relaysInput: boolean): ResultShape {
  if (resultType === "input_required" && relaysInput) return { result };
  const what = typeof resultType === "string" ? JSON.stringify(firstChars(resultType, 60)) : typeof resultType;
  return { wrong: `a result of type ${what}, which this caller cannot take` };
}

const SHAPES: Readonly<Record<CallMethod, (result: JsonObject) => ResultShape>> = {
  "tools/call": shapeToolResult,
  "resources/read": (result) => (isListOfObjects(result["contents"]) ? { result } : { wrong: "no list of `contents`" }),
  "prompts/get": (result) => (isListOfObjects(result["messages"]) ? { result } : { wrong: "no list of `messages`" }),
  "completion/complete": (result) =>
    isJsonObject(result["completion"]) && Array.isArray(result["completion"]["values"])
      ? { result }
      : { wrong: "no `completion` with `values`" },
  extension: (result) => ({ result }),
};

function shapeToolResult(result: JsonObject): ResultShape {
  const { content } = result;
  if (content === undefined) return { result: { ...result, content: textOf(result["structuredContent"]) } };
  if (!isListOfObjects(content)) return { wrong: "`content` that is no list of blocks" };
  // The content of an error result is not checked, because callers must learn of the failure even if its text is
  // missing.
  const wrong = result["isError"] === true ? undefined : wrongBlock(content as readonly JsonObject[]);
  return wrong === undefined ? { result } : { wrong };
}

/** Members that a block must have, by its type. Blocks of other types are passed on. */
const BLOCK_MEMBERS: Readonly<Record<string, readonly [member: string, isValid: (value: unknown) => boolean]>> = {
  text: ["text", isText],
  image: ["data", isText],
  audio: ["data", isText],
  resource: ["resource", isJsonObject],
  resource_link: ["uri", isText],
};

function wrongBlock(blocks: readonly JsonObject[]): string | undefined {
  for (const block of blocks) {
    const { type } = block;
    if (typeof type !== "string") return "a block of `content` without a `type`";
    const [member, isValid] = Object.hasOwn(BLOCK_MEMBERS, type) ? BLOCK_MEMBERS[type]! : [];
    if (member !== undefined && isValid?.(block[member]) === false)
      return `a block of type "${type}" without its \`${member}\``;
  }
  return undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

// Repeats structured content as text, because clients before 2025-06-18 read only `content`.
function textOf(structuredContent: unknown): JsonObject[] {
  return structuredContent === undefined || structuredContent === null
    ? []
    : [{ type: "text", text: stringifyExact(structuredContent) }];
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => isJsonObject(item));
}
