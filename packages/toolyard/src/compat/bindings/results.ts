import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { causeKind, KINDS } from "../../core/calls/kinds.ts";
import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import { isStatusFailure, toolValue } from "../../core/calls/tool-value.ts";
import type { SurfaceTool } from "../../hub/tool-directory.ts";
import type { ToolDefinition, ToolFailure, ToolResult } from "./binding.ts";

/**
 * Converts an outcome to the result format of bindings. The status comes from the table of outcome codes. A result
 * `{error, status_code}` of the tool itself is returned unchanged.
 */
export function toResult(outcome: Outcome): ToolResult {
  if (!outcome.ok) return toFailure(outcome);
  const output = toolValue(outcome.result);
  return isStatusFailure(output) ? output : { output, status_code: 200 };
}

export function toFailure({ kind, message, result, details }: Fail): ToolFailure {
  const { status } = KINDS[causeKind(kind, details)];
  if (kind === "unknown_tool") return { error: "Tool not found", status_code: status };
  const output = objectMember(result ?? {}, "structuredContent");
  if (isStatusFailure(output)) return output;
  return {
    error: KINDS[kind].beforeExecution ? message : `Tool execution failed: ${message}`,
    status_code: status,
    ...(output ? { output } : {}),
  };
}

/** Converts an unexpected error to a failure. */
export function thrownFailure(error: unknown): ToolFailure {
  return toFailure(error instanceof FailError ? error.failure : fail("internal", messageOf(error)));
}

export function toDefinition({ name, record, entry }: SurfaceTool): ToolDefinition {
  const outputSchema = objectMember(entry, "outputSchema");
  return {
    name,
    description: record.description,
    input_schema: inputSchemaOf(entry),
    ...(outputSchema ? { output_schema: outputSchema } : {}),
  };
}

function inputSchemaOf({ inputSchema }: JsonObject): JsonObject {
  return isJsonObject(inputSchema) ? inputSchema : { type: "object" };
}
