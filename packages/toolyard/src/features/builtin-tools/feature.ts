import { ACCESS_PLAN, GET_HUB, INNER_HUB, LOG_LINES, REDACT, STARTED_AT } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { BUILTIN } from "../../providers/builtin/kind.ts";
import { BUILTIN_PORTS } from "../../providers/builtin/ports.ts";
import { SANDBOX } from "../../sandbox/service.ts";
import { createBuiltinPorts, type BuiltinToolsSections } from "./builtin-ports.ts";

/** Feature: the hub's own tools `tool_search`, `execute_tool`, `execute_code`, `meta.*`. */
export const BUILTIN_TOOLS = defineFeature({
  name: "builtin-tools",
  uses: [GET_HUB, INNER_HUB, SANDBOX, LOG_LINES, ACCESS_PLAN, STARTED_AT, REDACT],
  provides: [BUILTIN_PORTS],
  sources: [BUILTIN],
  start: (services, config: () => BuiltinToolsSections) => ({
    services: { builtin: createBuiltinPorts(services, config) },
  }),
});
