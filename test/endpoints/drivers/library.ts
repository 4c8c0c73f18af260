import { createHub } from "../../../packages/toolyard/src/index.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import { toolValue } from "../../../packages/toolyard/src/core/calls/tool-value.ts";
import type { OpenSurface } from "../surface.ts";

export const library: OpenSurface = async ({ settings, variables }) => {
  const hub = await createHub({ settings, variables, logger: SILENT_LOGGER });
  await hub.list();
  return {
    call: async (tool, args, signal) => {
      const outcome = await hub.call(tool, args, signal ? { signal } : {});
      return outcome.ok ? { value: toolValue(outcome.result) } : { failure: { kind: outcome.kind } };
    },
    told: (kind) => ({ kind }),
    close: () => hub.close(),
  };
};
