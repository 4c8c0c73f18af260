import { PROFILES } from "../language/profiles.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";

export const PROFILE = {
  type: "string",
  enum: Object.keys(PROFILES),
  default: "default",
  description:
    "Rules for valid files: `default` accepts all common forms, `strict-v1` only the published grammar, " +
    "`seed-era` requires what the first GNN tools of 2025 required.",
};

export const SOURCE_PROPERTIES = {
  text: { type: "string", description: "A model as GNN text. Give this or `file_path`." },
  file_path: { type: "string", description: "Path of a GNN file. Give this or `text`." },
};

export const MODEL = {
  type: ["string", "integer"],
  minLength: 1,
  maxLength: 200,
  minimum: 1,
  description:
    "Selects one model of a file by its GNNSection, its ModelName or its number from 1. Omitted: all models.",
};

/** Parameters of planning: policy length and precisions. */
export const PLANNING = {
  policy_length: {
    type: "integer",
    minimum: 1,
    maximum: SIMULATION_LIMITS.policyLength,
    description:
      "Number of actions in a policy: how many steps ahead the agent plans. Default: the value in the model, else 1.",
  },
  gamma: {
    type: "number",
    minimum: 0,
    description: "Precision of policies. Default: γ of the model, else that of the library (1; PyMDP 0.0.7: 16).",
  },
};

export const DIAGNOSTICS = {
  type: "array",
  items: {
    type: "object",
    properties: {
      code: { type: "string" },
      severity: { type: "string", enum: ["error", "warning", "note"] },
      message: { type: "string" },
      mend: { type: "string", description: "Correction of the problem." },
      start: { $ref: "#/$defs/position" },
      end: { $ref: "#/$defs/position" },
    },
    required: ["code", "severity", "message", "start", "end"],
  },
};

export const POSITION = {
  type: "object",
  description: "Line and column, counted from 1; columns are UTF-16 code units.",
  properties: { line: { type: "integer" }, column: { type: "integer" } },
  required: ["line", "column"],
};

export const TYPE_CHECK = {
  type: "object",
  properties: {
    file_path: { type: "string" },
    is_valid: { type: "boolean" },
    errors: { type: "array", items: { type: "string" } },
    warnings: { type: "array", items: { type: "string" } },
    resource_estimates: {
      type: "object",
      properties: {
        memory_estimate_kb: { type: "number" },
        inference_estimate_units: { type: "number" },
      },
      required: ["memory_estimate_kb", "inference_estimate_units"],
    },
  },
  required: ["file_path", "is_valid", "errors", "warnings", "resource_estimates"],
  additionalProperties: false,
};

export function input(properties: object, required: readonly string[] = []): object {
  return { type: "object", properties, required, additionalProperties: false };
}

export const READS_FILES = { readOnlyHint: true, openWorldHint: false };
export const WRITES_FILES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };
