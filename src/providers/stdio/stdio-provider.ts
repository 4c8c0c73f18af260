import type { Provider } from "../../core/provider.ts";
import { childEnvironment } from "../../process/environment.ts";
import { StdioTransport } from "../../upstream/stdio-transport.ts";
import { createMcpServerProvider, type McpServerDeps } from "../mcp-server/provider.ts";
import type { StdioServerOptions } from "./options.ts";

export interface StdioProviderDeps extends Pick<
  McpServerDeps,
  "source" | "logger" | "cacheFolder" | "isSecretFree" | "clientInfo" | "gate" | "coldWaitMs" | "firstCallerEra"
> {
  readonly options: StdioServerOptions;
}

/** An MCP server as a child process (L50, R1): started, watched, restarted and ended here. */
export function createStdioProvider({ options, ...deps }: StdioProviderDeps): Provider {
  const { command, args, cwd, env, inheritEnv, upstream } = options;
  const openTransport = (): StdioTransport =>
    new StdioTransport({
      command,
      args,
      ...(cwd !== undefined && { cwd }),
      env: childEnvironment({ own: env, inherit: inheritEnv }),
      maxMessageBytes: upstream.maxMessageBytes,
    });
  return createMcpServerProvider({
    ...deps,
    options: upstream,
    opensCheaply: false,
    openTransport,
    cacheKey: [command, ...args, cwd ?? ""],
  });
}
