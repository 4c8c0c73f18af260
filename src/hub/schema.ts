import type { LoadedConfig } from "../config/load.ts";
import { AgentSchema } from "../agent/options.ts";
import { CatalogSchema } from "../catalog/options.ts";
import { SearchSchema } from "../catalog/search/options.ts";
import { Type, type OptionSchema, type Static } from "../core/option-schema.ts";
import { LegacySessionSchema } from "../doors/mcp/legacy/options.ts";
import { JSON_RPC_OPTION_SCHEMAS } from "../doors/jsonrpc/options.ts";
import { MCP_OPTION_SCHEMAS } from "../doors/mcp/options.ts";
import { RestSchema } from "../doors/rest/options.ts";
import { HTTP_OPTION_SCHEMAS } from "../http/options.ts";
import { WebSearchSchema } from "../websearch/options.ts";
import { ModelsSchema } from "../models/options.ts";
import { LimitsSchema } from "../pipeline/options.ts";
import { SandboxSchema } from "../sandbox/options.ts";
import { AuditSchema, LoggingSchema } from "../telemetry/options.ts";
import { sourceSections, type SourcesConfig } from "./source-kinds.ts";

const ServerSchema = Type.Object(
  {
    ...HTTP_OPTION_SCHEMAS,
    ...MCP_OPTION_SCHEMAS,
    ...JSON_RPC_OPTION_SCHEMAS,
    sessions: Type.Optional(LegacySessionSchema),
  },
  { description: "The doors: where and how the hub is served." },
);

/** What the hub's other parts read. */
const PartsSchema = Type.Object({
  server: Type.Optional(ServerSchema),
  rest: Type.Optional(RestSchema),
  logging: Type.Optional(LoggingSchema),
  audit: Type.Optional(AuditSchema),
  limits: Type.Optional(LimitsSchema),
  catalog: Type.Optional(CatalogSchema),
  search: Type.Optional(SearchSchema),
  sandbox: Type.Optional(SandboxSchema),
  models: Type.Optional(ModelsSchema),
  agent: Type.Optional(AgentSchema),
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
});

export type HubConfig = Static<typeof PartsSchema> & SourcesConfig;
/** A configuration that was read and checked. */
export type LoadedHubConfig = LoadedConfig<HubConfig>;
export type ServerConfig = Static<typeof ServerSchema>;

/** The whole configuration: each part's own schema and those of all kinds of sources, joined. */
export const CONFIG_SCHEMA: OptionSchema<HubConfig> = {
  type: "object",
  properties: { ...PartsSchema.properties, ...sourceSections() },
  additionalProperties: false,
};
