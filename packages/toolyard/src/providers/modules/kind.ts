import { Type } from "../../core/options/option-schema.ts";
import type { TableFacts } from "../../core/sources/table-facts.ts";
import { defineSourceKind, type SourceServices } from "../source-kind.ts";
import type { ModulesHost } from "./host.ts";
import { ModulesSchema, resolveModules, type ModulesConfig } from "./options.ts";

export interface ModulesServices extends Pick<SourceServices, "logger" | "innerHub" | "models" | "coldWaitMs"> {
  /** The program that registers tools of its own. */
  readonly modulesHost?: ModulesHost;
}

const MODULE_FILE = /^mcp\.(?:ts|mts|mjs|js|py)$/;

const TABLE: TableFacts = {
  sample: `
# Functions in TypeScript or JavaScript: <folder>/<name>/mcp.ts exports registerTools(hub).
# [modules]
# paths = ["modules"]
`,
  starts: { told: ["paths"] },
  places: {
    kind: "modules",
    key: "paths",
    ofFolder: (names) => (names.some((name) => MODULE_FILE.test(name)) ? "folder" : undefined),
    ofFile: ({ text }) => (/\bregister_?tools\b/i.test(text) ? "file" : undefined),
  },
};

/** Functions in process: one source for all modules, there too where only the program registers tools. */
export const MODULES = defineSourceKind({
  kind: "modules",
  schema: { modules: Type.Optional(Type.Table(ModulesSchema, TABLE)) },
  resolve: ({ modules: raw }: { readonly modules?: ModulesConfig }, { isHosted = false }) => {
    const options = resolveModules(raw);
    const { namespace, shape } = options;
    if (options.paths.length === 0 && !isHosted) return [];
    return [{ id: "modules", namespace, shape, options }];
  },
  make: async (source, options, { logger, innerHub, models, coldWaitMs, modulesHost: host }: ModulesServices) =>
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
