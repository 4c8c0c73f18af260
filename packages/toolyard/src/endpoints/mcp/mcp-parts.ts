import type { Tracing } from "../../core/ports/tracing.ts";
import type { Access } from "../../core/access.ts";
import type { ToolNameStyle } from "../../core/calls/call.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { Tasks } from "../../core/ports/tasks.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import type { HubState } from "../../state/ports/store.ts";
import type { LegacySessionOptions } from "./legacy/options.ts";
import type { SessionDepsParts } from "./legacy/session-deps.ts";
import { ModernEndpoint } from "./modern/endpoint.ts";
import type { McpEndpointOptions } from "./options.ts";
import type { RemoteHubs } from "./remote-hubs.ts";

/** Both eras of MCP, independent of the transport. */
export interface McpParts {
  readonly modern: ModernEndpoint;
  readonly session: SessionDepsParts;
  readonly era: ServedEra;
  /** Form of tool names for clients that select no form. */
  readonly toolNames: ToolNameStyle;
}

export interface McpServices {
  readonly hub: HubPort;
  readonly logger: Logger;
  readonly state: HubState;
  readonly access: Pick<Access, "isGuarded">;
  /** Tasks. @default no call becomes a task */
  readonly tasks?: Tasks;
  /** @default requests are not recorded */
  readonly tracing?: Tracing | undefined;
  /** The other hubs of the store. Absent: there are none. */
  readonly remote?: RemoteHubs | undefined;
}

export interface McpPartsOptions extends McpEndpointOptions {
  readonly sessions: LegacySessionOptions;
}

export function createMcpParts(
  { toolMode: defaultMode, modern: options, pageSize, era, toolNames, sessions }: McpPartsOptions,
  { hub, logger, state, access: { isGuarded }, tasks, tracing, remote }: McpServices,
): McpParts {
  const shared = { hub, logger, tracing, defaultMode, state, ...(pageSize !== undefined && { pageSize }) };
  return {
    modern: new ModernEndpoint({ ...shared, options, isGuarded, toolNames, tasks }),
    era,
    toolNames,
    session: { ...shared, options: sessions, tasks, remote },
  };
}
