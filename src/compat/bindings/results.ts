import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json.ts";
import { KINDS, type FailKind } from "../../core/kinds.ts";
import { fail, type Fail, type Outcome } from "../../core/outcome.ts";
import { toolValue } from "../../core/tool-value.ts";
import type { SurfaceTool } from "../../hub/hub.ts";
import type { ToolDefinition, ToolFailure, ToolResult } from "./binding.ts";

/** Failures that no tool had a part in: their words stand alone. */
const BEFORE_EXECUTION: ReadonlySet<FailKind> = new Set(["ambiguous", "invalid_params", "denied", "limited"]);

/** An outcome in the keys of the documents; the status is that of the table of kinds. */
export function toResult(outcome: Outcome): ToolResult {
  return outcome.ok ? { output: toolValue(outcome.result), status_code: 200 } : toFailure(outcome);
}

export function toFailure({ kind, message, result }: Fail): ToolFailure {
  const { status } = KINDS[kind];
  if (kind === "unknown_tool") return { error: "Tool not found", status_code: status };
  const output = objectMember(result ?? {}, "structuredContent");
  return {
    error: BEFORE_EXECUTION.has(kind) ? message : `Tool execution failed: ${message}`,
    status_code: status,
    ...(output ? { output } : {}),
  };
}

/** What was thrown where nothing should be. */
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
