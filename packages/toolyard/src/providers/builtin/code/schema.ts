import type { JsonObject } from "../../../core/json/json.ts";

/** Input schema that callers see. */
export const SHOWN_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    language: {
      type: "string",
      enum: ["python", "javascript", "typescript"],
      description: "What `code` is written in.",
    },
    code: { type: "string", description: "The program. Its last expression, or what it returns, is the result." },
    inputs: { type: "object", description: "Bound to the variable `inputs`." },
    files: {
      type: "object",
      description: 'Files in the working folder, by relative path: text, or `{"base64": "…"}`.',
    },
    timeout_ms: { type: "integer", minimum: 1, description: "Longest time of the run, tool calls included." },
    session: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      description: "Runs that name the same session see each other's variables.",
    },
  },
  required: ["language", "code"],
};

/** Input schema that is checked: models also write `py` and `ts`. */
export const ACCEPTED_SCHEMA: JsonObject = {
  ...SHOWN_SCHEMA,
  properties: { ...(SHOWN_SCHEMA["properties"] as JsonObject), language: { type: "string" } },
};
