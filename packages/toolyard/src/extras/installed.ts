import { readdirSync, renameSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { extraFolder, extrasFolder } from "./extras-folder.ts";
import { EXTRAS, type Extra, type ExtraName } from "./extras.ts";
import { findPackage, nearestPackage, type SearchPlaces } from "./find-package.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

/** Installation state of an extra. */
export interface ExtraState {
  readonly extra: Extra;
  /**
   * Location. `beside`: next to this program. `installed`: in the data folder or in `TOOLYARD_EXTRAS`. `other`: only
   * in unsuitable versions.
   */
  readonly state: "beside" | "installed" | "other" | "absent";
  /** Versions of the packages that were found. */
  readonly versions: Readonly<Record<string, string>>;
  /** Folder of the extra in the data folder. It may not exist. */
  readonly folder: string;
}

/** Returns the state of each extra. An extra is installed only if all its packages are. */
export function extraStates(places: SearchPlaces = {}): readonly ExtraState[] {
  return EXTRAS.map((extra) => extraState(extra, places));
}

export function extraState(extra: Extra, places: SearchPlaces = {}): ExtraState {
  const { variables = process.env, ownFile } = places;
  const folder = extraFolder(extra.name, variables);
  const found = extra.packages.map((name) => ({ name, found: findPackage(extra.name, name, places) }));
  if (found.every((one) => one.found)) {
    const state = found.some((one) => one.found?.place === "installed") ? "installed" : "beside";
    return { extra, state, folder, versions: Object.fromEntries(found.map((one) => [one.name, one.found!.version])) };
  }
  const near = extra.packages.flatMap((name) => {
    const version = nearestPackage(name, ownFile)?.version;
    return version === undefined ? [] : [[name, version] as const];
  });
  const isOther = near.length > 0 || versionFolders(extra.name, variables).length > 0;
  return { extra, state: isOther ? "other" : "absent", folder, versions: Object.fromEntries(near) };
}

function versionFolders(name: ExtraName, variables: EnvironmentVariables): readonly string[] {
  try {
    return readdirSync(join(extrasFolder(variables), name));
  } catch {
    return [];
  }
}

/**
 * Removes all versions of an extra from the data folder. Returns whether there was one. Packages next to this program
 * are kept. Throws the system's error if a file is in use.
 */
export function removeExtra(name: ExtraName, variables: EnvironmentVariables = process.env): boolean {
  if (versionFolders(name, variables).length === 0) return false;
  const root = extrasFolder(variables);
  // The folder is renamed first, so that an interrupted removal does not leave a partial extra in use.
  const leaving = join(root, `.staging-${name}-${randomBytes(6).toString("hex")}`);
  renameSync(join(root, name), leaving);
  rmSync(leaving, { recursive: true, force: true });
  return true;
}
