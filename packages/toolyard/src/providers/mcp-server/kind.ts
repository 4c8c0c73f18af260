import type { ResolvedSource, SourceServices } from "../source-kind.ts";
import type { McpServerOptions } from "./options.ts";

/** What an MCP server is made with, however it is reached. */
export type McpServerServices = Pick<
  SourceServices,
  "logger" | "cacheFolder" | "coldWaitMs" | "isSecretFree" | "lazy" | "firstCallerEra" | "requestIds"
>;

/** An MCP server as a source that is wanted. */
export function mcpSource<O extends { readonly upstream: McpServerOptions }>(
  id: string,
  options: O,
): ResolvedSource<O> {
  const { namespace = id, limits, shape } = options.upstream;
  return { id, namespace, limits, shape, options };
}
