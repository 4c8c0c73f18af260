import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import { typedValue } from "../../core/calls/tool-value.ts";
import type { SurfaceTool } from "../../hub/tool-directory.ts";
import type { ToolDefinition, ToolFailure, ToolResult } from "./binding.ts";

/**
 * Converts an outcome to the documents' keys; the status is from the table of kinds. A tool's own `{error,
 * status_code}` passes unchanged.
 */
export function toResult(outcome: Outcome, declaresJson = false): ToolResult {
  if (!outcome.ok) return toFailure(outcome);
  const output = typedValue(outcome.result, declaresJson);
  return isOwnFailure(output) ? output : { output, status_code: 200 };
}

function isOwnFailure(value: unknown): value is ToolFailure & JsonObject {
  if (!isJsonObject(value) || typeof value["error"] !== "string") return false;
  const status = value["status_code"];
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600;
}

export function toFailure({ kind, message, result, details }: Fail): ToolFailure {
  const { status } = KINDS[causeOf(kind, details)];
  if (kind === "unknown_tool") return { error: "Tool not found", status_code: status };
  const output = objectMember(result ?? {}, "structuredContent");
  return {
    error: KINDS[kind].beforeExecution ? message : `Tool execution failed: ${message}`,
    status_code: status,
    ...(output ? { output } : {}),
  };
}

/** Returns the kind of failure that a tool reported. */
function causeOf(kind: FailKind, details: JsonObject = {}): FailKind {
  const said = details["upstreamKind"];
  return kind === "tool_error" && typeof said === "string" && Object.hasOwn(KINDS, said) ? (said as FailKind) : kind;
}

/** Converts an unexpected error. */
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
