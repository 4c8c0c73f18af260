import { FailError, messageOf } from "../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { KINDS, type FailKind } from "../../core/calls/kinds.ts";
import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import { typedValue } from "../../core/calls/tool-value.ts";
import type { SurfaceTool } from "../../hub/tool-directory.ts";
import type { ToolDefinition, ToolFailure, ToolResult } from "./binding.ts";

/**
 * An outcome in the keys of the documents; the status is that of the table of kinds. A tool that gives `{error,
 * status_code}` itself has said how it failed: that passes as it is.
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

/** A tool may say which kind of failure its own was. */
function causeOf(kind: FailKind, details: JsonObject = {}): FailKind {
  const said = details["upstreamKind"];
  return kind === "tool_error" && typeof said === "string" && Object.hasOwn(KINDS, said) ? (said as FailKind) : kind;
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
