import type { Readable } from "node:stream";
import { alwaysAdmitting } from "../../core/ports/authenticator.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { resolveJsonLimits } from "../../http/options.ts";
import { resolveJsonRpcDoor } from "../../endpoints/jsonrpc/options.ts";
import { createSessionDeps } from "../../endpoints/mcp/legacy/session-deps.ts";
import { withToolNames } from "../../endpoints/tool-names.ts";
import { StdioDoor } from "../../endpoints/mcp/stdio-door.ts";
import type { GuardedStdout } from "../../process/stdout-guard.ts";
import type { Hub } from "../hub.ts";
import type { ServerConfig } from "./doors.ts";
import type { FirstCaller } from "./first-caller.ts";
import { createDialects } from "./dialects.ts";
import { createMcpParts } from "./mcp-parts.ts";
import type { Served } from "./serve.ts";

/** A client's ends of the program, and who hears first how it speaks. */
export interface Pipe {
  readonly input: Readable;
  readonly output: GuardedStdout;
  readonly firstCaller?: FirstCaller;
}

/**
 * Serves MCP, and the JSON-RPC dialect behind it, on a pipe. The caller has taken over standard output already, so that
 * nothing else can write there.
 */
export function serveStdio(hub: Hub, server: ServerConfig, { input, output, firstCaller }: Pipe): Served {
  const mcp = createMcpParts(hub, server, false);
  const session = createSessionDeps(mcp.session);
  const { enabled } = resolveJsonRpcDoor(server);
  const door = new StdioDoor({
    ...session,
    modern: mcp.modern,
    era: mcp.era,
    authenticator: alwaysAdmitting(withToolNames(LOCAL_PRINCIPAL, mcp.toolNames)),
    jsonLimits: resolveJsonLimits(server),
    input,
    output: output.sink,
    onFirst: (era) => firstCaller?.spoke(era),
    ...(enabled ? { dialects: createDialects(hub) } : {}),
  });
  door.start();
  firstCaller?.listening();
  const doorClosed = hub.doors.opened("stdio");
  return {
    done: door.done,
    close: async (graceMs) => {
      doorClosed();
      await door.close(graceMs);
      mcp.modern.close();
      session.board.close();
    },
  };
}
