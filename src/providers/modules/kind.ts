import { Type } from "../../core/option-schema.ts";
import { defineSourceKind, type SourceServices } from "../source-kind.ts";
import type { ModulesHost } from "./host.ts";
import { ModulesSchema, resolveModules, type ModulesConfig } from "./options.ts";

export interface ModulesServices extends Pick<SourceServices, "logger" | "innerHub" | "models" | "coldWaitMs"> {
  /** The program that registers tools of its own. */
  readonly modulesHost?: ModulesHost;
}

/** Functions in process: one source for all modules, there too where only the program registers tools. */
export const MODULES = defineSourceKind({
  kind: "modules",
  schema: { modules: Type.Optional(ModulesSchema) },
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
