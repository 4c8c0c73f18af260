import { fail, type Fail } from "../../core/calls/outcome.ts";
import { objectMember } from "../../core/json/json.ts";
import { TASKS_EXTENSION } from "../../core/ports/tasks.ts";
import type { FoundCall } from "../../pipeline/ports.ts";
import type { CallState, Stage } from "../../pipeline/state.ts";
import { RPC } from "../../wire/messages.ts";
import type { TaskOptions } from "./options.ts";

/**
 * Creates the stage that decides whether a call may become a task. It runs after the rights and the arguments were
 * checked, so that a refused call never becomes a task, and before the call waits for a free slot.
 */
export function taskStage(options: () => TaskOptions): Stage {
  return (state, next) => {
    const { call, found } = state;
    if (call.method !== "tools/call" || (!call.taskOffer && !isUndeclared(state))) return next(state);
    const { modeOf, afterMs } = options();
    const mode = modeOf(found.subject);
    if (!call.taskOffer) return mode === "required" ? MISSING : next(state);
    if (mode === "never" && call.taskOffer.isRequired) return Promise.resolve(notAsTask(found.name));
    if (mode !== "never") {
      const isAtOnce = mode !== "auto";
      call.taskOffer.accept({ afterMs: isAtOnce ? 0 : afterMs, tool: found.name, isIdempotent: isIdempotent(found) });
    }
    return next(state);
  };
}

/**
 * A modern client declares its capabilities in each request. Without the capability, the request waits for the result
 * (SEP-2663).
 */
function isUndeclared({ call: { client, parent } }: CallState): boolean {
  return client.era === "modern" && parent === undefined;
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
