import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { Permission } from "../core/ports/permission.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { isDestructive } from "../core/calls/effects.ts";
import { approvalWriter } from "./approvals.ts";
import type { PipelineDeps } from "./ports.ts";
import { permittedCompletion, refusedCompletion } from "./permitted-completion.ts";
import type { CallState, Next, Stage } from "./state.ts";

/** `_meta` key with which a caller that cannot add an argument reports the user's consent. */
const CONFIRM_META_KEY = "toolyard/confirm";
const CONFIRM = "confirm";

/** Checks the caller's rights to the record, and requires consent for destructive tools if configured (S15). */
export function authoriseStage(deps: PipelineDeps): Stage {
  const { options } = deps;
  const approvals = approvalWriter(deps);
  return (state, next) => {
    const permission = permissionOf(state.call.principal.rights);
    if (!permission.permits(state.found.subject)) return Promise.resolve(deniedFailure(state.found.name));
    if (options.confirmDestructive && isDestructive(state.found.target)) {
      if (!isConfirmed(state)) return Promise.resolve(unconfirmedFailure(state.found.name));
      state.arguments = withoutConfirm(state.arguments, state.found.target);
      approvals?.consented(state);
    }
    if (approvals && state.call.relaysInput) approvals.repeated(state);
    return permission.isNarrowed ? completedWithin(permission, state, next) : next(state);
  };
}

/** Removes values of a completion that lead to a URI which the caller may not use. */
function completedWithin(permission: Permission, state: CallState, next: Next): Promise<Outcome> {
  const { target, subject } = state.found;
  if (target.type !== "completion" || subject.type !== "uri") return next(state);
  const facts = { target, subject, permission };
  const refused = refusedCompletion(state.call, facts);
  return refused
    ? Promise.resolve(refused)
    : next(state).then((outcome) => permittedCompletion(outcome, state.call, facts));
}

function deniedFailure(name: string): Fail {
  return fail("denied", `No right to use ${name}. Use a listed name, or ask the operator of this hub for more rights.`);
}

function unconfirmedFailure(name: string): Fail {
  const message =
    `${name} destroys something and needs consent. Ask the user, then call it again with \`confirm: true\` ` +
    "among its arguments.";
  return fail("denied", message, { details: { confirm: true } });
}

function isConfirmed({ call }: CallState): boolean {
  return call.arguments[CONFIRM] === true || call.params[CONFIRM] === true || call.meta[CONFIRM_META_KEY] === true;
}

// Removes the argument `confirm`, which is for the hub, unless the tool has an argument with this name.
function withoutConfirm(args: JsonObject, target: CallTarget): JsonObject {
  const properties = target.type === "tool" ? target.tool.inputSchema["properties"] : undefined;
  if (!(CONFIRM in args) || (isJsonObject(properties) && Object.hasOwn(properties, CONFIRM))) return args;
  const { [CONFIRM]: _, ...rest } = args;
  return rest;
}
