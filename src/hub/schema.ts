import { AgentSchema } from "../agent/options.ts";
import { CatalogSchema } from "../catalog/options.ts";
import { SearchSchema } from "../catalog/search/options.ts";
import { Type, type Static } from "../core/option-schema.ts";
import { LegacySessionSchema } from "../doors/mcp/legacy/options.ts";
import { JSON_RPC_OPTION_SCHEMAS } from "../doors/jsonrpc/options.ts";
import { MCP_OPTION_SCHEMAS } from "../doors/mcp/options.ts";
import { RestSchema } from "../doors/rest/options.ts";
import { HTTP_OPTION_SCHEMAS } from "../http/options.ts";
import { WebSearchSchema } from "../websearch/options.ts";
import { ModelsSchema } from "../models/options.ts";
import { LimitsSchema } from "../pipeline/options.ts";
import { BuiltinSchema } from "../providers/builtin/options.ts";
import { DefaultToolsSchema } from "../providers/defaults/options.ts";
import { FoldersSchema } from "../providers/folders/options.ts";
import { httpSchema } from "../providers/http/options.ts";
import { modulesSchema } from "../providers/modules/options.ts";
import { SandboxSchema } from "../sandbox/options.ts";
import { ScriptsSchema } from "../providers/scripts/options.ts";
import { stdioSchema } from "../providers/stdio/options.ts";
import { AuditSchema, LoggingSchema } from "../telemetry/options.ts";

const ServerSchema = Type.Object(
  {
    ...HTTP_OPTION_SCHEMAS,
    ...MCP_OPTION_SCHEMAS,
    ...JSON_RPC_OPTION_SCHEMAS,
    sessions: Type.Optional(LegacySessionSchema),
  },
  { description: "The doors: where and how the hub is served." },
);

const RemoteServerSchema = Type.Object({
  alias: Type.Optional(
    Type.String({ description: "Name of this server in status and logs. Absent: its namespace.", minLength: 1 }),
  ),
  ...httpSchema.properties,
});

/** The whole configuration: each part's own schema, joined. */
export const CONFIG_SCHEMA = Type.Object({
  server: Type.Optional(ServerSchema),
  rest: Type.Optional(RestSchema),
  logging: Type.Optional(LoggingSchema),
  audit: Type.Optional(AuditSchema),
  limits: Type.Optional(LimitsSchema),
  catalog: Type.Optional(CatalogSchema),
  search: Type.Optional(SearchSchema),
  builtin: Type.Optional(BuiltinSchema),
  sandbox: Type.Optional(SandboxSchema),
  modules: Type.Optional(modulesSchema),
  scripts: Type.Optional(ScriptsSchema),
  folders: Type.Optional(FoldersSchema),
  models: Type.Optional(ModelsSchema),
  agent: Type.Optional(AgentSchema),
  default_tools: Type.Optional(DefaultToolsSchema),
  web_search: Type.Optional(WebSearchSchema),
  bindings: Type.Optional(
    Type.Object(
      {
        dir: Type.Optional(
          Type.Path({
            description:
              "Folder of binding modules, for `LollmsMCPBindingManager.fromConfig` of `toolyard/bindings`. The hub itself never reads it.",
            minLength: 1,
          }),
        ),
      },
      { description: "For programs that load bindings." },
    ),
  ),
  mcp: Type.Optional(
    Type.Object(
      {
        stdio_servers: Type.Optional(
          Type.Record(stdioSchema, { description: "MCP servers that are started here, by alias." }),
        ),
        remote_servers: Type.Optional(Type.Array(RemoteServerSchema, { description: "MCP servers on HTTP." })),
      },
      { description: "MCP servers behind the hub." },
    ),
  ),
});

export type HubConfig = Static<typeof CONFIG_SCHEMA>;
export type ServerConfig = Static<typeof ServerSchema>;
