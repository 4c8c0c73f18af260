import { isJsonObject, type JsonObject } from "../core/json.ts";
import { fail, type Fail } from "../core/outcome.ts";
import type { CallTarget } from "../core/provider.ts";
import { permissionOf, type Permission } from "../core/rights.ts";
import { isDestructive, isReadOnly } from "../core/effects.ts";
import type { Found, PipelineDeps } from "./ports.ts";
import type { CallState, Stage } from "./state.ts";

/** `_meta` key by which a caller that cannot add an argument says that a person agreed. */
const CONFIRM_META_KEY = "toolyard/confirm";
const CONFIRM = "confirm";

/** Holds the caller's rights against the record, and asks for consent to what destroys, where that is wanted (S15). */
export function authoriseStage({ options }: PipelineDeps): Stage {
  return (state, next) => {
    const permission = permissionOf(state.call.principal.rights);
    if (permission.isNarrowed && !permits(permission, state.found))
      return Promise.resolve(deniedFailure(state.found.name));
    if (options.confirmDestructive && isDestructive(state.found.target)) {
      if (!isConfirmed(state)) return Promise.resolve(unconfirmedFailure(state.found.name));
      state.arguments = withoutConfirm(state.arguments, state.found.target);
    }
    return next(state);
  };
}

function permits(permission: Permission, { name, target }: Found): boolean {
  // A way to tools gives no access of its own: what it leads to comes by here as a call of its own.
  const isDiscovery = target.type === "tool" && target.tool.role === "discovery";
  return permission.permits(name, { readOnly: isReadOnly(target), isDiscovery });
}

function deniedFailure(name: string): Fail {
  return fail(
    "denied",
    `No right to use ${name}. Use what the list shows, or ask whoever runs this hub for more rights.`,
  );
}

function unconfirmedFailure(name: string): Fail {
  const message = `${name} destroys something and needs consent. Ask the person, then call it again with \`confirm: true\` among its arguments.`;
  return fail("denied", message, { details: { confirm: true } });
}

function isConfirmed({ call }: CallState): boolean {
  return call.arguments[CONFIRM] === true || call.params[CONFIRM] === true || call.meta[CONFIRM_META_KEY] === true;
}

// The argument is meant for the hub, unless the tool has one of the same name.
function withoutConfirm(args: JsonObject, target: CallTarget): JsonObject {
  const properties = target.type === "tool" ? target.tool.inputSchema["properties"] : undefined;
  if (!(CONFIRM in args) || (isJsonObject(properties) && Object.hasOwn(properties, CONFIRM))) return args;
  const { [CONFIRM]: _, ...rest } = args;
  return rest;
}
