import { DATA_FOLDERS, INNER_HUB, LOGGER, MODELS, VARIABLES } from "../../core/services.ts";
import type { ServicesOf } from "../../core/service-key.ts";
import { INSTALLS, UPSTREAM_STARTS } from "../services.ts";
import type { FolderServices } from "./provider.ts";

/** Services that sources with folder tools use. */
export const FOLDER_USES = [LOGGER, INNER_HUB, MODELS, INSTALLS, DATA_FOLDERS, VARIABLES, UPSTREAM_STARTS] as const;

/** Returns the dependencies of a source of folder tools from these services. */
export function folderServices({
  installs,
  dataFolders: { environments: environmentsFolder },
  starts: { lazy },
  ...shared
}: ServicesOf<(typeof FOLDER_USES)[number]>): FolderServices {
  return { ...shared, installs: () => installs.open(), environmentsFolder, lazy };
}
