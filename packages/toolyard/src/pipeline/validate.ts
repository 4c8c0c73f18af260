import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { ArgumentValidation } from "../core/sources/listing-shape.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { ToolRecord } from "../core/sources/records.ts";
import { adaptArguments } from "../schema/adapt-arguments.ts";
import type { CheckResult } from "../schema/compile.ts";
import type { CheckedSchema } from "../schema/schema-checks.ts";
import type { PipelineDeps } from "./ports.ts";
import { SchemaProblems } from "./schema-problems.ts";
import type { CallState, Next, Stage } from "./state.ts";
import type { UriTranslation } from "./uri-translation.ts";
import { orAborted } from "../core/timing/wait.ts";

/**
 * Validates arguments against the tool's input schema and fills in its defaults, before anything is started or sent
 * (C37). The arguments of resources, prompts and completion are validated by their source.
 */
export function validateStage(deps: PipelineDeps, uris: UriTranslation): Stage {
  const problems = new SchemaProblems(deps);
  const { schemas } = deps;
  return (state, next) => {
    const { target } = state.found;
    state.arguments = uris.toSource(state, state.arguments);
    if (target.type !== "tool") return next(state);
    const { tool } = target;
    const { follows } = state.call;
    // A call that follows a task of an upstream server has no arguments. They were checked when the task was started.
    if (follows) return follows.source === tool.source.id ? next(state) : Promise.resolve(movedFailure(state));
    const validation = tool.source.shape?.validation ?? "coerce";
    if (validation === "off") return next(state);
    const check: ArgumentCheck = { schema: schemas.of(tool.inputSchema, "input"), problems, tool, validation };
    const result = check.schema.checkHere(state.arguments);
    if (!result) return checkedApart(state, next, check);
    problems.report(tool, "input", check.schema.verdict);
    if (!result.ok) return secondLook(state, next, { ...check, result });
    if (isJsonObject(result.value)) state.arguments = result.value;
    return next(state);
  };
}

/**
 * Returns the failure of a call to a tool that now belongs to another source. That source does not have the task, and
 * must not be called without arguments.
 */
function movedFailure({ found: { name } }: CallState): Fail {
  return fail("unavailable", `${name} is now a tool of another source, so the task of this call cannot be followed.`, {
    retryable: false,
  });
}

type CheckFailure = Extract<CheckResult, { readonly ok: false }>;

interface ArgumentCheck {
  readonly schema: CheckedSchema;
  readonly problems: SchemaProblems;
  readonly tool: ToolRecord;
  readonly validation: ArgumentValidation;
}

// The arguments are checked in a worker thread. Only this call waits for the thread.
async function checkedApart(state: CallState, next: Next, check: ArgumentCheck): Promise<Outcome> {
  const result = await apart(state, state.arguments, check);
  check.problems.report(check.tool, "input", check.schema.verdict);
  return result.ok ? passOn(state, next, result.value) : secondLook(state, next, { ...check, result });
}

function apart(state: CallState, value: JsonObject, { schema, tool }: ArgumentCheck): Promise<CheckResult> {
  const { cancellation } = state.deadline;
  const whom = { source: tool.source.id, isGone: () => cancellation.aborted };
  return orAborted(schema.checkApart(value, whom), cancellation);
}

/** Repeats the check of arguments that do not match the schema, after converting them as the official servers do. */
async function secondLook(
  state: CallState,
  next: Next,
  check: ArgumentCheck & { readonly result: CheckFailure },
): Promise<Outcome> {
  const { schema, tool, validation, result } = check;
  const adapted = adaptArguments(tool.inputSchema, state.arguments, { coerces: validation === "coerce" });
  const again = adapted && (schema.checkHere(adapted.checked) ?? (await apart(state, adapted.checked, check)));
  if (!adapted || !again?.ok) return fail("invalid_params", result.message, { details: { errors: result.errors } });
  return passOn(state, next, isJsonObject(again.value) ? adapted.restore(again.value) : again.value);
}

function passOn(state: CallState, next: Next, value: unknown): Promise<Outcome> {
  if (isJsonObject(value)) state.arguments = value;
  return next(state);
}
