import { nextCallId } from "../core/call-id.ts";
import type { Call } from "../core/call.ts";
import type { ToolMode, View } from "../core/hub-port.ts";
import type { Caller } from "../core/ports.ts";
import type { Hub } from "./hub.ts";

/** Every tool may be called by its name, listed or not; rights are the parent's. */
const MODE: ToolMode = "all";

/** Calls that a running call makes: with its caller's rights, inside its time, ended with it. */
export function createCaller(hub: () => Hub): Caller {
  const viewOf = (parent: Call): View => ({ mode: MODE, principal: parent.principal });
  return {
    call: (target, args, parent, { standsFor = false } = {}) => {
      const call: Call = {
        ...parent,
        id: nextCallId(),
        parent: parent.id,
        method: "tools/call",
        target,
        arguments: args,
        params: standsFor ? parent.params : {},
        relaysInput: standsFor && parent.relaysInput,
        notify: (notice) => parent.notify(notice),
        ask: (ask, signal) => parent.ask(ask, signal),
      };
      return hub().call(call, viewOf(parent));
    },
    search: (query, limit, parent) => hub().search(query, limit, viewOf(parent)),
  };
}
