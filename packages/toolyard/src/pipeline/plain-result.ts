import { isJsonObject } from "../core/json/json.ts";
import { mayHoldTags } from "../core/text/hidden-text.ts";

/** Sizes of the parts of a plain result, as `jsonSize` counts them. */
const RESULT_BYTES = 2;
const CONTENT_BYTES = "content".length + 4 + 2;
const NO_ERROR_BYTES = "isError".length + 4 + 5;
/** Size of a text block without its text, and of the comma after the block: `type` with its value, and `text`. */
const BLOCK_BYTES = 2 + ("type".length + 4 + "text".length + 2) + ("text".length + 4) + 2 + 1;

/**
 * Returns the size of a tool's result as `jsonSize` does, if the result is plain: text blocks without further members
 * and without hidden characters, and no error. Most results are plain, and need neither a repair nor a translation.
 * Returns `undefined` for any other result.
 */
export function plainResultSize(result: unknown): number | undefined {
  if (!isJsonObject(result) || !Array.isArray(result["content"])) return undefined;
  let size = RESULT_BYTES + CONTENT_BYTES;
  for (const key in result) {
    if (key === "content") continue;
    if (key !== "isError" || result[key] !== false) return undefined;
    size += NO_ERROR_BYTES;
  }
  for (const block of result["content"] as readonly unknown[]) {
    const text = plainText(block);
    if (text === undefined) return undefined;
    size += BLOCK_BYTES + Buffer.byteLength(text);
  }
  return size;
}

function plainText(block: unknown): string | undefined {
  if (!isJsonObject(block) || block["type"] !== "text") return undefined;
  const { text } = block;
  if (typeof text !== "string" || mayHoldTags(text)) return undefined;
  for (const key in block) if (key !== "type" && key !== "text") return undefined;
  return text;
}
