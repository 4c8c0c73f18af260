import { isJsonObject } from "../json/json.ts";
import type { CallTarget } from "../sources/provider.ts";
import type { ToolRecord } from "../sources/records.ts";

// Annotations are unverified claims of the author. They may forbid more and save work, but never allow what rights do
// not.

/** Changes nothing. Resources, prompts and completion never do, by the protocol. */
export function isReadOnly(target: CallTarget): boolean {
  return target.type !== "tool" || isReadOnlyTool(target.tool);
}

export function isReadOnlyTool(tool: ToolRecord): boolean {
  return hint(tool, "readOnlyHint");
}

/** Returns whether a repeated call has the same effect as one call. */
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
