import { Type } from "../../core/option-schema.ts";
import { mcpSource, type McpServerServices } from "../mcp-server/kind.ts";
import { defineSourceKind, inEntry, type SourceServices } from "../source-kind.ts";
import { resolveStdioServer, StdioServerSchema, type StdioServerConfig } from "./options.ts";

/** What of the configuration it looks at. */
export interface StdioReads {
  readonly mcp?: { readonly stdio_servers?: Readonly<Record<string, StdioServerConfig>> };
}

/** MCP servers that are started here. */
export const STDIO = defineSourceKind({
  kind: "stdio",
  schema: {
    mcp: Type.Optional(
      Type.Object({
        stdio_servers: Type.Optional(
          Type.Sources(
            Type.Record(StdioServerSchema, { description: "MCP servers that are started here, by alias." }),
            {
              kind: "stdio",
              identity: ["command", "namespace"],
              base: { cwd: "." },
            },
          ),
        ),
      }),
    ),
  },
  resolve: ({ mcp }: StdioReads) =>
    Object.entries(mcp?.stdio_servers ?? {}).map(([id, raw]) =>
      mcpSource(
        id,
        inEntry(`mcp.stdio_servers.${id}`, () => resolveStdioServer(raw)),
      ),
    ),
  make: async (source, options, services: McpServerServices & Pick<SourceServices, "installsFolder">) =>
    (await import("./stdio-provider.ts")).createStdioProvider({ ...services, source, options }),
});
