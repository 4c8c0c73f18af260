import { Type } from "../../core/option-schema.ts";
import { defineSourceKind, type SourceServices } from "../source-kind.ts";
import { resolveFolders, FoldersSchema, type FoldersConfig } from "./options.ts";

/** Tool folders: one source for all `.mcp.json` files beside a script with `execute`. */
export const FOLDERS = defineSourceKind({
  kind: "folders",
  schema: { folders: Type.Optional(FoldersSchema) },
  resolve: ({ folders: raw }: { readonly folders?: FoldersConfig }, { folder }) => {
    if (raw === undefined) return [];
    const options = resolveFolders(raw, folder);
    return [{ id: "folders", namespace: "", shape: options.shape, options }];
  },
  make: async (source, options, services: Pick<SourceServices, "logger" | "innerHub" | "models">) =>
    (await import("./provider.ts")).createFoldersProvider(source, options, services),
});
