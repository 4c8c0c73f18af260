import { isJsonObject } from "../json/json.ts";
import type { CallTarget } from "../sources/provider.ts";
import type { ToolRecord } from "../sources/records.ts";

// Effects of a tool, by its annotations. Annotations are unverified claims of the author. They may forbid an operation
// or save work, but never permit an operation that the rights forbid.

/** Returns true if the target changes nothing. By the protocol, resources, prompts and completion never do. */
export function isReadOnly(target: CallTarget): boolean {
  return target.type !== "tool" || isReadOnlyTool(target.tool);
}

export function isReadOnlyTool(tool: ToolRecord): boolean {
  return hint(tool, "readOnlyHint");
}

/** Returns true if repeated calls have the same effect as one call. */
export function isIdempotent(target: CallTarget): boolean {
  return isReadOnly(target) || (target.type === "tool" && hint(target.tool, "idempotentHint"));
}

export function isDestructive(target: CallTarget): boolean {
  return target.type === "tool" && hint(target.tool, "destructiveHint");
}

function hint(tool: ToolRecord, name: string): boolean {
  const annotations = tool.definition["annotations"];
  return isJsonObject(annotations) && annotations[name] === true;
}
