import type { Provider } from "../../core/provider.ts";
import { childEnvironment } from "../../process/environment.ts";
import { StdioTransport } from "../../upstream/stdio-transport.ts";
import { createUpstreamProvider, type UpstreamProviderDeps } from "../mcp-server/provider.ts";
import type { ResolvedStdio } from "./options.ts";

export interface StdioProviderDeps extends Pick<
  UpstreamProviderDeps,
  "source" | "logger" | "cacheFolder" | "isSecretFree" | "clientInfo" | "gate" | "coldWaitMs" | "firstCallerEra"
> {
  readonly options: ResolvedStdio;
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
  return createUpstreamProvider({
    ...deps,
    options: upstream,
    opensCheaply: false,
    openTransport,
    cacheKey: [command, ...args, cwd ?? ""],
  });
}
