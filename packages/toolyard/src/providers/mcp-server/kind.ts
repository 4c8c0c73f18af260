import { DATA_FOLDERS, LOGGER, SECRETS } from "../../core/services.ts";
import { TRACING } from "../../core/ports/tracing.ts";
import type { ServicesOf } from "../../core/service-key.ts";
import { UPSTREAM_STARTS } from "../services.ts";
import type { ResolvedSource } from "../source-kind.ts";
import type { McpServerOptions } from "./options.ts";
import type { McpServerDeps } from "./provider.ts";

/** Services that every MCP server uses, on any transport. */
export const MCP_SERVER_USES = [LOGGER, DATA_FOLDERS, SECRETS, UPSTREAM_STARTS, TRACING] as const;

type McpServerServices = ServicesOf<(typeof MCP_SERVER_USES)[number]>;

/** Returns the dependencies of a server from these services. */
export function mcpServerDeps({
  logger,
  dataFolders: { lists },
  secrets,
  starts,
  tracing,
}: McpServerServices): Pick<
  McpServerDeps,
  "logger" | "cacheFolder" | "coldWaitMs" | "isSecretFree" | "lazy" | "firstCallerEra" | "requestIds" | "tracing"
> {
  return {
    ...starts,
    logger,
    tracing,
    ...(lists !== undefined && { cacheFolder: lists }),
    isSecretFree: (source, text) => secrets.isFree(source, text),
  };
}

/** Returns an MCP server as a source that the configuration requests. */
export function mcpSource<O extends { readonly upstream: McpServerOptions }>(
  id: string,
  options: O,
): ResolvedSource<O> {
  const { namespace = id, limits, shape } = options.upstream;
  return { id, namespace, limits, shape, options };
}
