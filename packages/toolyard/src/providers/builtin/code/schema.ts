import type { JsonObject } from "../../../core/json/json.ts";

/** Input schema that callers see. */
export const SHOWN_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    language: {
      type: "string",
      enum: ["python", "javascript", "typescript"],
      description: "Language of `code`.",
    },
    code: {
      type: "string",
      description: "The program. Its return value, or the value of its last expression, is the result.",
    },
    inputs: { type: "object", description: "Data for the program, in its variable `inputs`." },
    files: {
      type: "object",
      description: 'Files for the working folder, by relative path. Each is a text, or `{"base64": "…"}`.',
    },
    timeout_ms: {
      type: "integer",
      minimum: 1,
      description: "Time limit of the run in milliseconds, including tool calls.",
    },
    session: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      description: "Name of a session. Runs of the same session share their variables.",
    },
  },
  required: ["language", "code"],
};

/** Input schema that is checked. It also accepts `py` and `ts`, because models write these names. */
export const ACCEPTED_SCHEMA: JsonObject = {
  ...SHOWN_SCHEMA,
  properties: { ...(SHOWN_SCHEMA["properties"] as JsonObject), language: { type: "string" } },
};
