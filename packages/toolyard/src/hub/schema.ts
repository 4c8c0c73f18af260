import type { LoadedConfig } from "../config/load.ts";
import { AgentSchema } from "../agent/options.ts";
import { CatalogSchema } from "../catalog/options.ts";
import { SearchSchema } from "../catalog/search/options.ts";
import { Type, type OptionSchema, type Static } from "../core/options/option-schema.ts";
import type { Starts } from "../core/sources/table-facts.ts";
import { WEB_SEARCH_STARTS, WebSearchSchema } from "../websearch/options.ts";
import { ModelsSchema } from "../models/options.ts";
import { LimitsSchema } from "../pipeline/options.ts";
import { SANDBOX_STARTS, SandboxSchema } from "../sandbox/options.ts";
import { AuditSchema, LoggingSchema } from "../telemetry/options.ts";
import { doorSections, type DoorsConfig } from "./serve/doors.ts";
import { sourceSections, type SourcesConfig } from "./source-kinds.ts";

/** Lines go to a file of anybody's choice. */
const APPENDS: Starts = { keys: ["file"], told: ["file"], before: "appends to" };

/** What the hub's other parts read. */
const PartsSchema = Type.Object({
  logging: Type.Optional(Type.Table(LoggingSchema, { starts: APPENDS })),
  audit: Type.Optional(Type.Table(AuditSchema, { starts: APPENDS })),
  limits: Type.Optional(LimitsSchema),
  catalog: Type.Optional(CatalogSchema),
  search: Type.Optional(SearchSchema),
  sandbox: Type.Optional(Type.Table(SandboxSchema, { starts: SANDBOX_STARTS })),
  models: Type.Optional(ModelsSchema),
  agent: Type.Optional(AgentSchema),
  web_search: Type.Optional(Type.Table(WebSearchSchema, { starts: WEB_SEARCH_STARTS })),
  bindings: Type.Optional(
    Type.Table(
      Type.Object(
        {
          dir: Type.Optional(
            Type.Path({
              description:
                "Folder of binding modules, for `LollmsMCPBindingManager.fromConfig` of `toolyard/bindings`. " +
                "The hub itself never reads it.",
              minLength: 1,
            }),
          ),
        },
        { description: "For programs that load bindings." },
      ),
      { starts: { told: ["dir"] } },
    ),
  ),
});

export type HubConfig = Static<typeof PartsSchema> & DoorsConfig & SourcesConfig;
/** A configuration that was read and checked. */
export type LoadedHubConfig = LoadedConfig<HubConfig>;

/** The whole configuration: each part's own schema and those of all doors and kinds of sources, joined. */
export const CONFIG_SCHEMA: OptionSchema<HubConfig> = {
  type: "object",
  properties: { ...doorSections(), ...PartsSchema.properties, ...sourceSections() },
  additionalProperties: false,
};
