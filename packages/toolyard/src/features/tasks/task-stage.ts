import { fail, type Fail, type Outcome } from "../../core/calls/outcome.ts";
import type { TaskOffer } from "../../core/calls/task-offer.ts";
import { objectMember } from "../../core/json/json.ts";
import { TASKS_EXTENSION } from "../../core/ports/tasks.ts";
import type { FoundCall } from "../../pipeline/ports.ts";
import type { Stage } from "../../pipeline/state.ts";
import { RPC } from "../../wire/messages.ts";
import type { TaskOptions } from "./options.ts";

/**
 * Creates the stage that decides whether a call may become a task. It runs after the rights and the arguments were
 * checked, so that a refused call never becomes a task, and before the call waits for a free slot.
 */
export function taskStage(options: () => TaskOptions): Stage {
  return (state, next) => {
    const { call, found } = state;
    if (call.method !== "tools/call") return next(state);
    if (call.taskOffer) return offered(call.taskOffer, found, options()) ?? next(state);
    // A modern client declares its capabilities in each request. Without the capability, the request waits for the
    // result (SEP-2663).
    if (call.client.era !== "modern" || call.parent !== undefined) return next(state);
    const { hasRequired, modeOf } = options();
    return hasRequired && modeOf(found.subject) === "required" ? MISSING : next(state);
  };
}

/** Accepts an offer to continue the call as a task, if its mode permits that. Returns the failure of a refused call. */
function offered(offer: TaskOffer, found: FoundCall, { modeOf, afterMs }: TaskOptions): Promise<Outcome> | undefined {
  const mode = modeOf(found.subject);
  if (mode === "never") return offer.isRequired ? Promise.resolve(notAsTask(found.name)) : undefined;
  offer.accept({ afterMs: mode === "auto" ? afterMs : 0, tool: found.name, isIdempotent: isIdempotent(found) });
  return undefined;
}

const MISSING = Promise.resolve(
  fail("denied", `This tool runs as a task only. Declare the extension ${TASKS_EXTENSION}.`, {
    rpcError: {
      code: RPC.missingClientCapability,
      message: `Missing required client capabilities: ${TASKS_EXTENSION}`,
      data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    },
  }),
);

function notAsTask(name: string): Fail {
  const message = `${name} does not run as a task, by \`[tasks]\` in the hub's configuration. Wait for its result.`;
  // The code that 2025-11-25 requires. No other caller gets a protocol error here.
  return fail("denied", message, { rpcError: { code: RPC.methodNotFound, message } });
}

function isIdempotent({ target, subject }: FoundCall): boolean {
  if (target.type !== "tool") return false;
  const annotations = objectMember(target.tool.definition, "annotations");
  return annotations?.["idempotentHint"] === true || (subject.type === "name" && subject.isReadOnly);
}
