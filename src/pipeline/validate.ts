import { isJsonObject } from "../core/json.ts";
import { fail, type Outcome } from "../core/outcome.ts";
import type { ToolRecord } from "../core/records.ts";
import type { CheckResult } from "../schema/compile.ts";
import type { CheckedSchema } from "../schema/schema-checks.ts";
import type { PipelineDeps } from "./ports.ts";
import { SchemaProblems } from "./schema-problems.ts";
import type { CallState, Next, Stage } from "./state.ts";
import type { UriTranslation } from "./uri-translation.ts";
import { orAborted } from "../core/wait.ts";

/**
 * Holds arguments against the tool's input schema and fills in its defaults, before anything is started or sent (C37).
 * What resources, prompts and completion take is judged by their own source.
 */
export function validateStage(deps: PipelineDeps, uris: UriTranslation): Stage {
  const problems = new SchemaProblems(deps);
  const { schemas } = deps;
  return (state, next) => {
    const { target } = state.found;
    state.arguments = uris.toSource(state, state.arguments);
    if (target.type !== "tool") return next(state);
    const { tool } = target;
    const schema = schemas.of(tool.inputSchema, "input");
    const result = schema.checkHere(state.arguments);
    if (!result) return checkedApart(state, next, { schema, problems, tool });
    problems.look(tool, "input", schema.verdict);
    return passOn(state, next, result);
  };
}

interface Apart {
  readonly schema: CheckedSchema;
  readonly problems: SchemaProblems;
  readonly tool: ToolRecord;
}

// The call waits for a thread; others do not.
async function checkedApart(state: CallState, next: Next, { schema, problems, tool }: Apart): Promise<Outcome> {
  const { cancellation } = state.deadline;
  const whom = { source: tool.source.id, isGone: () => cancellation.aborted };
  const result = await orAborted(schema.checkApart(state.arguments, whom), cancellation);
  problems.look(tool, "input", schema.verdict);
  return passOn(state, next, result);
}

function passOn(state: CallState, next: Next, result: CheckResult): Promise<Outcome> {
  if (!result.ok)
    return Promise.resolve(fail("invalid_params", result.message, { details: { errors: result.errors } }));
  if (isJsonObject(result.value)) state.arguments = result.value;
  return next(state);
}
