import { isJsonObject } from "../json/json.ts";
import type { CallTarget } from "../sources/provider.ts";
import type { ToolRecord } from "../sources/records.ts";

// Annotations are the author's word, and nobody checked it. They may forbid more and spare work, never allow what
// rights do not.

/** Changes nothing. Resources, prompts and completion never do, by the protocol. */
export function isReadOnly(target: CallTarget): boolean {
  return target.type !== "tool" || isReadOnlyTool(target.tool);
}

export function isReadOnlyTool(tool: ToolRecord): boolean {
  return hint(tool, "readOnlyHint");
}

/** Doing it twice is as good as doing it once. */
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
