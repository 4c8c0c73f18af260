import { Type } from "../../core/options/option-schema.ts";
import type { Starts } from "../../core/sources/table-facts.ts";
import { mcpSource, type McpServerServices } from "../mcp-server/kind.ts";
import { defineSourceKind, inEntry, type ResolvedSource, type SourceServices } from "../source-kind.ts";
import { resolveStdioServer, StdioServerSchema, type StdioServerConfig, type StdioServerOptions } from "./options.ts";
import {
  GNN_STARTS,
  GnnSchema,
  LIBRARY_STARTS,
  LibrarySchema,
  resolveServices,
  ServicesSchema,
  type ServiceOptions,
  type ServicesReads,
} from "./services.ts";

/** What of the configuration it looks at. */
export interface StdioReads extends ServicesReads {
  readonly mcp?: { readonly stdio_servers?: Readonly<Record<string, StdioServerConfig>> };
}

const SAMPLE = `
# MCP servers that are started here. The name is the prefix of their tools: files__read_file.
# [mcp.stdio_servers.files]
# command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
# env = { LOG_LEVEL = "info" }
# visibility = "ondemand"       # found by search, not listed
# include = ["read_*"]          # or exclude = ["write_*"]
# timeout = "60s"
`;

const STARTS: Starts = {
  keys: ["command", "args", "cwd", "env", "env_file", "inherit_env"],
  told: ["command", "args"],
  between: " ",
};

/** MCP servers that are started here: those of the configuration, and the services that come with the package. */
export const STDIO = defineSourceKind({
  kind: "stdio",
  schema: {
    mcp: Type.Optional(
      Type.Object({
        stdio_servers: Type.Optional(
          Type.Table(
            Type.Sources(
              Type.Record(StdioServerSchema, { description: "MCP servers that are started here, by alias." }),
              {
                kind: "stdio",
                identity: ["command", "namespace"],
                base: { cwd: "." },
                variablesFile: { file: "env_file", into: "env" },
              },
            ),
            { sample: SAMPLE, starts: STARTS },
          ),
        ),
      }),
    ),
    services: Type.Optional(ServicesSchema),
    gnn: Type.Optional(Type.Table(GnnSchema, { starts: GNN_STARTS })),
    library: Type.Optional(Type.Table(LibrarySchema, { starts: LIBRARY_STARTS })),
  },
  resolve: ({ mcp, ...config }: StdioReads): readonly ResolvedSource<StdioServerOptions | ServiceOptions>[] => [
    ...Object.entries(mcp?.stdio_servers ?? {}).map(([id, raw]) =>
      mcpSource(
        id,
        inEntry(`mcp.stdio_servers.${id}`, () => resolveStdioServer(raw)),
      ),
    ),
    ...resolveServices(config),
  ],
  make: async (
    source,
    options,
    services: McpServerServices & Pick<SourceServices, "installsFolder" | "models" | "variables">,
  ) =>
    "service" in options
      ? (await import("./service-provider.ts")).createServiceProvider({ ...services, source, options })
      : (await import("./stdio-provider.ts")).createStdioProvider({ ...services, source, options }),
});
