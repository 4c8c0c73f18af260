import { Type } from "../../core/options/option-schema.ts";
import type { TableFacts } from "../../core/sources/table-facts.ts";
import { INNER_HUB, LOGGER, MODELS } from "../../core/services.ts";
import { UPSTREAM_STARTS } from "../services.ts";
import { defineSourceKind } from "../source-kind.ts";
import { ModulesSchema, resolveModules, type ModulesConfig } from "./options.ts";
import { MODULES_HOST } from "./services.ts";

const MODULE_FILE = /^mcp\.(?:ts|mts|mjs|js|py)$/;

const TABLE: TableFacts = {
  sample: `
# Functions in TypeScript or JavaScript: <folder>/<name>/mcp.ts exports registerTools(hub).
# [modules]
# paths = ["modules"]
`,
  starts: { shownKeys: ["paths"] },
  places: {
    kind: "modules",
    key: "paths",
    ofFolder: (names) => (names.some((name) => MODULE_FILE.test(name)) ? "folder" : undefined),
    ofFile: ({ text }) => (/\bregister_?tools\b/i.test(text) ? "file" : undefined),
  },
};

/**
 * Source kind for in-process functions. All modules, and the tools that the program itself registers, are one source.
 */
export const MODULES = defineSourceKind({
  kind: "modules",
  schema: { modules: Type.Optional(Type.Table(ModulesSchema, TABLE)) },
  uses: [LOGGER, INNER_HUB, MODELS, UPSTREAM_STARTS, MODULES_HOST],
  resolve: ({ modules: raw }: { readonly modules?: ModulesConfig }, { isHosted = false }) => {
    const options = resolveModules(raw);
    const { namespace, shape } = options;
    if (options.paths.length === 0 && !isHosted) return [];
    return [{ id: "modules", namespace, shape, options }];
  },
  make: async (source, options, { logger, innerHub, models, starts: { coldWaitMs }, modulesHost: host }) =>
    (await import("./modules-provider.ts")).createModulesProvider({
      source,
      options,
      logger,
      innerHub,
      models,
      coldWaitMs,
      ...(host ? { host } : {}),
    }),
});
