import { Type } from "../../core/option-schema.ts";
import { defineSourceKind, type SourceServices } from "../source-kind.ts";
import { resolveScripts, ScriptsSchema, type ScriptsConfig } from "./options.ts";

/** Script tools: one source for all folders with a `tool.toml`. */
export const SCRIPTS = defineSourceKind({
  kind: "scripts",
  schema: { scripts: Type.Optional(ScriptsSchema) },
  resolve: ({ scripts: raw }: { readonly scripts?: ScriptsConfig }, { folder }) => {
    if (raw === undefined) return [];
    const options = resolveScripts(raw, folder);
    return [{ id: "scripts", namespace: "", shape: options.shape, options }];
  },
  make: async (source, options, services: Pick<SourceServices, "logger" | "innerHub" | "models">) =>
    (await import("./provider.ts")).createScriptsProvider(source, options, services),
});
