import { Type } from "../../core/options/option-schema.ts";
import type { Starts } from "../../core/sources/table-facts.ts";
import { MODELS, VARIABLES } from "../../core/services.ts";
import { MCP_SERVER_USES, mcpServerDeps, mcpSource } from "../mcp-server/kind.ts";
import { INSTALLS } from "../services.ts";
import { defineSourceKind, inEntry, type ResolvedSource } from "../source-kind.ts";
import { resolveStdioServer, StdioServerSchema, type StdioServerConfig, type StdioServerOptions } from "./options.ts";
import {
  GNN_STARTS,
  GnnSchema,
  LIBRARY_STARTS,
  LibrarySchema,
  resolveServices,
  ServicesSchema,
  type ServicesReads,
} from "./services.ts";

/** Configuration sections that this kind of source reads. */
export interface StdioReads {
  readonly mcp?: { readonly stdio_servers?: Readonly<Record<string, StdioServerConfig>> };
}

const SAMPLE = `
# MCP servers that the hub starts. The name is the prefix of their tools: files__read_file.
# [mcp.stdio_servers.files]
# command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
# env = { LOG_LEVEL = "info" }
# visibility = "ondemand"       # found by search, not listed
# include = ["read_*"]          # or exclude = ["write_*"]
# timeout = "60s"
`;

const STARTS: Starts = {
  keys: ["command", "args", "cwd", "env", "env_file", "inherit_env"],
  shownKeys: ["command", "args"],
  between: " ",
};

/** Source kind for configured MCP servers that are started as child processes. */
export const STDIO = defineSourceKind({
  kind: "stdio",
  schema: {
    mcp: Type.Optional(
      Type.Object({
        stdio_servers: Type.Optional(
          Type.Table(
            Type.Sources(
              Type.Record(StdioServerSchema, { description: "MCP servers that the hub starts, by alias." }),
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
  },
  uses: [...MCP_SERVER_USES, INSTALLS],
  resolve: ({ mcp }: StdioReads): readonly ResolvedSource<StdioServerOptions>[] =>
    Object.entries(mcp?.stdio_servers ?? {}).map(([id, raw]) =>
      mcpSource(
        id,
        inEntry(`mcp.stdio_servers.${id}`, () => resolveStdioServer(raw)),
      ),
    ),
  make: async (source, options, services) =>
    (await import("./stdio-provider.ts")).createStdioProvider({
      ...mcpServerDeps(services),
      source,
      options,
      installsFolder: services.installs.folder,
    }),
});

/** Source kind for the enabled services that come with the package. */
export const SERVICE_SERVERS = defineSourceKind({
  kind: "stdio",
  schema: {
    services: Type.Optional(ServicesSchema),
    gnn: Type.Optional(Type.Table(GnnSchema, { starts: GNN_STARTS })),
    library: Type.Optional(Type.Table(LibrarySchema, { starts: LIBRARY_STARTS })),
  },
  uses: [...MCP_SERVER_USES, INSTALLS, MODELS, VARIABLES],
  resolve: (config: ServicesReads) => resolveServices(config),
  make: async (source, options, { models, variables, ...services }) =>
    (await import("./service-provider.ts")).createServiceProvider({
      ...mcpServerDeps(services),
      source,
      options,
      installsFolder: services.installs.folder,
      models,
      variables,
    }),
});
