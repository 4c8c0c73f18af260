import { Type } from "../core/options/option-schema.ts";
import { MCP } from "../endpoints/mcp/kind.ts";
import { REST } from "../endpoints/rest/kind.ts";
import { AUTH } from "../features/auth/feature.ts";
import { AGENT } from "../features/agent/feature.ts";
import { BUILTIN_TOOLS } from "../features/builtin-tools/feature.ts";
import { CONSOLE, CONSOLE_WORK } from "../features/console/feature.ts";
import { HOME } from "../features/home/feature.ts";
import { JSON_RPC } from "../features/json-rpc/feature.ts";
import { MODELS } from "../features/models/feature.ts";
import { OTLP } from "../features/otlp/feature.ts";
import { PROFILES } from "../features/profiles/feature.ts";
import { PROMETHEUS } from "../features/prometheus/feature.ts";
import { READINESS } from "../features/readiness/feature.ts";
import { ROLES } from "../features/roles/feature.ts";
import { SANDBOX } from "../features/sandbox/feature.ts";
import { SCHEDULES } from "../features/schedules/feature.ts";
import { SEARCH } from "../features/search/feature.ts";
import { SIGN_IN } from "../features/sign-in/feature.ts";
import { STATISTICS } from "../features/statistics/feature.ts";
import { STATUS } from "../features/status/feature.ts";
import { TASKS } from "../features/tasks/feature.ts";
import { TELEMETRY } from "../features/telemetry/feature.ts";
import { defineFeature } from "../kernel/feature.ts";
import { featureList } from "../kernel/feature-list.ts";
import { KERNEL } from "../kernel/kernel-feature.ts";
import { DEFAULTS } from "../providers/defaults/kind.ts";
import { FOLDERS } from "../providers/folders/kind.ts";
import { HTTP } from "../providers/http/kind.ts";
import { MODULES } from "../providers/modules/kind.ts";
import { SCRIPTS } from "../providers/scripts/kind.ts";
import { SERVICE_SERVERS, STDIO } from "../providers/stdio/kind.ts";
import { WEB_SEARCH_STARTS, WebSearchSchema } from "../websearch/options.ts";

// Features that consist of one part.
const WEB_SEARCH = defineFeature({
  name: "web-search",
  schema: { web_search: Type.Optional(Type.Table(WebSearchSchema, { starts: WEB_SEARCH_STARTS })) },
});
const BINDINGS = defineFeature({ name: "bindings", schema: { bindings: Type.Optional(bindingsSchema()) } });
const MODULE_TOOLS = defineFeature({ name: "modules", sources: [MODULES] });
const SCRIPT_TOOLS = defineFeature({ name: "scripts", sources: [SCRIPTS] });
const FOLDER_TOOLS = defineFeature({ name: "folders", sources: [FOLDERS] });
const STDIO_SERVERS = defineFeature({ name: "stdio-servers", sources: [STDIO] });
const SERVICES = defineFeature({ name: "services", sources: [SERVICE_SERVERS] });
const REMOTE_SERVERS = defineFeature({ name: "remote-servers", sources: [HTTP] });
const DEFAULT_TOOLS = defineFeature({ name: "default-tools", sources: [DEFAULTS] });
const MCP_ENDPOINT = defineFeature({ name: "mcp", endpoints: [MCP] });
const REST_ENDPOINT = defineFeature({ name: "rest", endpoints: [REST] });

/**
 * All features of a hub, in the order of their start. A feature uses services of features before it; the compiler
 * refuses a list in which one is missing. Source kinds have precedence in this order, and endpoints are opened in this
 * order.
 */
export const FEATURES = featureList([
  TELEMETRY,
  KERNEL,
  STATISTICS,
  OTLP,
  AUTH,
  SEARCH,
  SANDBOX,
  MODELS,
  AGENT,
  WEB_SEARCH,
  BINDINGS,
  BUILTIN_TOOLS,
  MODULE_TOOLS,
  SCRIPT_TOOLS,
  FOLDER_TOOLS,
  STDIO_SERVERS,
  SERVICES,
  SIGN_IN,
  REMOTE_SERVERS,
  DEFAULT_TOOLS,
  ROLES,
  PROFILES,
  TASKS,
  SCHEDULES,
  MCP_ENDPOINT,
  JSON_RPC,
  REST_ENDPOINT,
  STATUS,
  PROMETHEUS,
  READINESS,
  HOME,
  CONSOLE_WORK,
  CONSOLE,
]);

function bindingsSchema() {
  return Type.Table(
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
    { starts: { shownKeys: ["dir"] } },
  );
}
