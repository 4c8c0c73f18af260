import { basename, extname } from "node:path";
import { Type } from "../../core/options/option-schema.ts";
import type { TableFacts } from "../../core/sources/table-facts.ts";
import { defineSourceKind } from "../source-kind.ts";
import { FOLDER_USES, folderServices } from "../tool-folders/kind.ts";
import { resolveFolders, FoldersSchema, type FoldersConfig } from "./options.ts";

const DESCRIPTION = ".mcp.json";

const TABLE: TableFacts = {
  sample: `
# Tool folders: <folder>/<name>/<name>.mcp.json next to <name>.py or <name>.ts with execute().
# [folders]
# tools_path = "folders"
`,
  starts: { shownKeys: ["tools_path", "libraries_path"] },
  places: {
    kind: "folders",
    key: "tools_path",
    ofFolder: (names) => (names.some((name) => name.endsWith(DESCRIPTION)) ? "folder" : undefined),
    ofFile: ({ name, siblings }) =>
      name.endsWith(DESCRIPTION) || siblings.includes(`${basename(name, extname(name))}${DESCRIPTION}`)
        ? "folder"
        : undefined,
  },
};

/** Tool folders: one source for all `.mcp.json` files next to a script with `execute`. */
export const FOLDERS = defineSourceKind({
  kind: "folders",
  schema: { folders: Type.Optional(Type.Table(FoldersSchema, TABLE)) },
  uses: FOLDER_USES,
  resolve: ({ folders: raw }: { readonly folders?: FoldersConfig }, { folder }) => {
    if (raw === undefined) return [];
    const options = resolveFolders(raw, folder);
    return [{ id: "folders", namespace: "", shape: options.shape, options }];
  },
  make: async (source, options, services) =>
    (await import("./provider.ts")).createFoldersProvider(source, options, folderServices(services)),
});
