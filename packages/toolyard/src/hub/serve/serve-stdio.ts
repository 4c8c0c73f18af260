import { TRACING } from "../../core/ports/tracing.ts";
import type { Readable } from "node:stream";
import { openAccess } from "../../core/access.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../../core/calls/call.ts";
import { TASKS } from "../../core/services.ts";
import { rightsOfEvery, rightsWithin } from "../../core/ports/rights.ts";
import { resolveJsonLimits } from "../../http/options.ts";
import { resolveJsonRpcEndpoint } from "../../endpoints/jsonrpc/options.ts";
import { resolveLegacySessions } from "../../endpoints/mcp/legacy/options.ts";
import { createSessionDeps } from "../../endpoints/mcp/legacy/session-deps.ts";
import { createMcpParts } from "../../endpoints/mcp/mcp-parts.ts";
import { resolveMcpEndpoint } from "../../endpoints/mcp/options.ts";
import { localWithin } from "./local-profile.ts";
import { DIALECTS } from "../../endpoints/services.ts";
import { defaultModeFor } from "../../endpoints/tool-mode.ts";
import { withToolNames } from "../../endpoints/tool-names.ts";
import { StdioEndpoint } from "../../endpoints/mcp/stdio-endpoint.ts";
import { getService } from "../../kernel/start-features.ts";
import type { GuardedStdout } from "../../process/stdout-guard.ts";
import { STATE } from "../../state/ports/store.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./endpoints.ts";
import type { FirstCaller } from "./first-caller.ts";
import type { ServedHub } from "./serve.ts";

/** Input and output of the client, and the detection of its era. */
export interface Pipe {
  readonly input: Readable;
  readonly output: GuardedStdout;
  readonly firstCaller?: FirstCaller;
  /** Name of the profile that the client gets. @default none: the whole hub */
  readonly profile?: string | undefined;
  /** True if the client selected a tool mode, which has precedence over the mode of the profile. @default false */
  readonly isModeNamed?: boolean;
  /** Patterns of tools, prompts and URIs that are denied to the client. @default [] */
  readonly deny?: readonly string[];
}

/**
 * Serves MCP and the methods of the JSON-RPC dialects on a pipe. Before the call, other writes to standard output must
 * be redirected.
 */
export function serveStdio(hub: Hub, server: ServerConfig, pipe: Pipe): ServedHub {
  const { input, output, firstCaller } = pipe;
  const { caller, options } = pipePlace(hub, server, pipe);
  const access = openAccess(withToolNames(caller, options.toolNames));
  const { port, logger, services } = hub;
  const [state, tasks, tracing] = [
    getService(services, STATE),
    getService(services, TASKS),
    getService(services, TRACING),
  ];
  const mcp = createMcpParts(options, { hub: port, logger, state, access, tasks, tracing });
  const session = createSessionDeps(mcp.session);
  const dialects = resolveJsonRpcEndpoint(server).enabled ? getService(services, DIALECTS)() : Promise.resolve([]);
  const endpoint = new StdioEndpoint({
    ...session,
    modern: mcp.modern,
    era: mcp.era,
    authenticator: access.authenticator,
    jsonLimits: resolveJsonLimits(server),
    input,
    output: output.sink,
    onFirst: (era) => firstCaller?.setEra(era),
    dialects,
  });
  endpoint.start();
  void dialects.finally(() => firstCaller?.listening()).catch(() => {});
  const endpointClosed = hub.endpoints.opened("stdio");
  return {
    done: endpoint.done,
    close: async (graceMs) => {
      endpointClosed();
      await endpoint.close(graceMs);
      mcp.modern.close();
      session.board.close();
    },
  };
}

/** Returns the caller at the other end of a pipe, and the options for serving it. Throws an `OptionError`. */
function pipePlace(hub: Hub, server: ServerConfig, { profile, isModeNamed = false, deny = [] }: Pipe) {
  const options = { ...resolveMcpEndpoint(server), sessions: resolveLegacySessions(server.sessions) };
  const caller = without(profile === undefined ? LOCAL_PRINCIPAL : localWithin(hub, profile), deny);
  if (profile === undefined) return { caller, options };
  if (isModeNamed) return { caller: { ...caller, profile: { name: profile } }, options };
  return { caller, options: { ...options, toolMode: defaultModeFor(caller, options.toolMode) } };
}

/** Returns the principal without the rights to names and URIs that match the patterns. */
function without(principal: Principal, deny: readonly string[]): Principal {
  if (deny.length === 0) return principal;
  return { ...principal, rights: rightsOfEvery([principal.rights, rightsWithin({ deny })]) };
}
