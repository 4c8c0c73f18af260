import { isJsonObject } from "../core/json.ts";
import { fail } from "../core/outcome.ts";
import { compileSchema } from "../schema/compile.ts";
import type { PipelineDeps } from "./ports.ts";
import { SchemaProblems } from "./schema-problems.ts";
import type { Stage } from "./state.ts";

/**
 * Holds arguments against the tool's input schema and fills in its defaults, before anything is started or sent (C37).
 * What resources, prompts and completion take is judged by their own source.
 */
export function validateStage(deps: PipelineDeps): Stage {
  const problems = new SchemaProblems(deps);
  return (state, next) => {
    const { target } = state.found;
    if (target.type !== "tool") return next(state);
    const { inputSchema } = target.tool;
    const compiled = compileSchema(inputSchema);
    problems.look(target.tool, inputSchema, "input", compiled);
    const result = compiled.check(state.arguments);
    if (!result.ok)
      return Promise.resolve(fail("invalid_params", result.message, { details: { errors: result.errors } }));
    if (isJsonObject(result.value)) state.arguments = result.value;
    return next(state);
  };
}
