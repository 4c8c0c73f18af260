import { nextCallId } from "../core/calls/call-id.ts";
import type { Call, ToolMode } from "../core/calls/call.ts";
import { innerCall } from "../core/calls/call-within.ts";
import type { CallOverrides } from "../core/calls/built-call.ts";
import type { View } from "../core/ports/hub-port.ts";
import type { InnerHub } from "../core/calls/inner-hub.ts";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import type { MadeHub } from "../core/services.ts";

/** Mode of inner calls: every tool may be called by its name, listed or not, with the parent's rights. */
const MODE: ToolMode = "all";

/** Maximum nesting of calls, which ends a tool that calls itself before the machine runs out of processes. */
const MAX_DEPTH = 16;

/** Request that a running call sends to the hub. */
type Inside = Required<
  Pick<CallOverrides, "method" | "target" | "arguments" | "params" | "relaysInput" | "offersTask">
>;

/**
 * Creates the interface through which running calls use the hub. A call through it has the rights and the time limit of
 * its caller, and ends together with the running call.
 */
export function createInnerHub(hub: () => Pick<MadeHub, "port" | "tools">): InnerHub {
  const viewOf = (parent: Call): View => ({ mode: MODE, principal: parent.principal });
  const goInside = (parent: Call, asked: Inside): Promise<Outcome> => {
    const depth = (parent.depth ?? 0) + 1;
    if (depth > MAX_DEPTH) return Promise.resolve(tooDeep(asked));
    return hub().port.call(innerCall(parent, { ...asked, depth, id: nextCallId(), parent: parent.id, mode: MODE }));
  };
  return {
    call: ({ tool: target, arguments: args, standsFor = false }, parent) =>
      goInside(parent, {
        method: "tools/call",
        target,
        arguments: args,
        params: standsFor ? parent.params : {},
        relaysInput: standsFor && parent.relaysInput,
        offersTask: standsFor,
      }),
    read: (target, parent) =>
      goInside(parent, {
        method: "resources/read",
        target,
        arguments: {},
        params: {},
        relaysInput: false,
        offersTask: false,
      }),
    search: (query, parent, bounds) => hub().tools.search(query, viewOf(parent), bounds),
    list: async (parent) => (await hub().port.list("tools", viewOf(parent))).entries,
  };
}

function tooDeep({ method, target }: Inside): Outcome {
  const what = method === "tools/call" ? `Tool \`${target}\` was not called` : `Resource ${target} was not read`;
  return fail(
    "limited",
    `${what}: ${MAX_DEPTH} calls already wait for one another. Look for a tool that calls itself.`,
    { retryable: false, details: { maxDepth: MAX_DEPTH } },
  );
}
