import { join } from "node:path";
import { dataFolder } from "../core/data-folder.ts";
import { getExtra, type ExtraName } from "./extras.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

/** Name of the module in the folder of an installed extra. It imports packages from that folder. */
export const LOADER_FILE = "load.mjs";

/** Returns the folder of all installed extras of this user. */
export function extrasFolder(variables: EnvironmentVariables = process.env): string {
  return join(dataFolder(variables), "extras");
}

/**
 * Variable with a second folder of installed extras, which the program only reads: the extras of a container image,
 * whose data folder is a volume. Both folders have the same structure.
 */
const EXTRAS_VARIABLE = "TOOLYARD_EXTRAS";

/** Returns the folder of an extra in `TOOLYARD_EXTRAS`, or `undefined` if the variable is not set or empty. */
export function sharedExtraFolder(name: ExtraName, variables: EnvironmentVariables): string | undefined {
  const folder = variables[EXTRAS_VARIABLE];
  return folder ? join(folder, name, getExtra(name).version) : undefined;
}

/**
 * Returns the folder of an extra in the version that this program requires. It exists only after a complete
 * installation.
 */
export function extraFolder(name: ExtraName, variables: EnvironmentVariables = process.env): string {
  return join(extrasFolder(variables), name, getExtra(name).version);
}
