import { HubMCPBinding, RemoteMCPBinding, type LollmsMCPBinding } from "../../../packages/toolyard/src/bindings.ts";
import { KINDS } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import { SILENT_LOGGER } from "../../../packages/toolyard/src/core/ports/ports.ts";
import type { OpenSurface, Surface } from "../surface.ts";

function surfaceOf(binding: LollmsMCPBinding & { close(): Promise<void> }): Surface {
  return {
    call: async (tool, args, signal) => {
      const answer = await binding.executeTool(tool, args, signal ? { signal } : {});
      return "output" in answer ? { value: answer.output } : { failure: { status_code: answer.status_code } };
    },
    told: (kind) => ({ status_code: KINDS[kind].status }),
    close: () => binding.close(),
  };
}

export const hubBinding: OpenSurface = async ({ settings, variables }) => {
  const binding = new HubMCPBinding({ settings, variables, logger: SILENT_LOGGER });
  await binding.discoverTools();
  return surfaceOf(binding);
};

export const remoteBinding: OpenSurface = async ({ url }, token) =>
  surfaceOf(
    new RemoteMCPBinding({
      server_url: `${url}/mcp?tool_mode=show_all`,
      auth_config: { type: "bearer", token },
      logger: SILENT_LOGGER,
    }),
  );
