import { Type } from "../../core/options/option-schema.ts";
import type { TableFacts } from "../../core/sources/table-facts.ts";
import { defineSourceKind } from "../source-kind.ts";
import { FOLDER_USES, folderServices } from "../tool-folders/kind.ts";
import { DEFAULT_FOLDER, resolveScripts, ScriptsSchema, type ScriptsConfig } from "./options.ts";

const MANIFEST = "tool.toml";

const TABLE: TableFacts = {
  sample: `
# Scripts in any language: <folder>/<name>/tool.toml next to the script. Changes apply at the next request.
# [scripts]
# tools_path = "${DEFAULT_FOLDER}"
`,
  formerly: "scriptling",
  starts: { shownKeys: ["tools_path", "libraries_path"], usual: DEFAULT_FOLDER },
  places: {
    kind: "scripts",
    key: "tools_path",
    ofFolder: (names) => (names.includes(MANIFEST) ? "parent" : undefined),
    ofFile: ({ siblings }) => (siblings.includes(MANIFEST) ? "parent" : undefined),
  },
};

/** Source kind for script tools: one source for all folders with a `tool.toml`. */
export const SCRIPTS = defineSourceKind({
  kind: "scripts",
  schema: { scripts: Type.Optional(Type.Table(ScriptsSchema, TABLE)) },
  uses: FOLDER_USES,
  resolve: ({ scripts: raw }: { readonly scripts?: ScriptsConfig }, { folder }) => {
    if (raw === undefined) return [];
    const options = resolveScripts(raw, folder);
    return [{ id: "scripts", namespace: "", shape: options.shape, options }];
  },
  make: async (source, options, services) =>
    (await import("./provider.ts")).createScriptsProvider(source, options, folderServices(services)),
});
