import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject, stringMember } from "../core/json/json.ts";
import { extraFolder, LOADER_FILE, sharedExtraFolder } from "./extras-folder.ts";
import { getExtra, type ExtraName } from "./extras.ts";
import { isFittingVersion } from "./fitting-version.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

/** A package of an extra that can be loaded. */
export interface FoundPackage {
  readonly version: string;
  /** Folder of the package. */
  readonly folder: string;
  /** `beside`: at a place where Node finds it for this program. `installed`: in a folder of installed extras. */
  readonly place: "beside" | "installed";
  /**
   * Path from which Node resolves the package. It is in the folder that contains the `node_modules` with the package.
   */
  readonly from: string;
}

/** Path of this program; tests pass another path. */
const OWN_FILE = fileURLToPath(import.meta.url);

export interface SearchPlaces {
  readonly variables?: EnvironmentVariables;
  readonly ownFile?: string;
}

/**
 * Finds a package of an extra: next to this program (a dependency of its project, or a checkout), else in the data
 * folder, else in the folder that `TOOLYARD_EXTRAS` names. Does not search the current folder, because its files may
 * belong to another user. Ignores a package with an unsuitable version next to this program.
 */
export function findPackage(name: ExtraName, packageName: string, places: SearchPlaces = {}): FoundPackage | undefined {
  const { variables = process.env, ownFile = OWN_FILE } = places;
  const pinned = getExtra(name).versions[packageName];
  const beside = nearestPackage(packageName, ownFile);
  if (beside && (pinned === undefined || isFittingVersion(beside.version, pinned)))
    return { ...beside, place: "beside", from: ownFile };
  for (const root of [extraFolder(name, variables), sharedExtraFolder(name, variables)]) {
    if (root === undefined) continue;
    const folder = join(root, "node_modules", packageName);
    const version = versionIn(folder);
    if (version !== undefined) return { version, folder, place: "installed", from: join(root, LOADER_FILE) };
  }
  return undefined;
}

/** Returns the package that Node resolves for this program, regardless of its version. */
export function nearestPackage(
  packageName: string,
  ownFile: string = OWN_FILE,
): Pick<FoundPackage, "version" | "folder"> | undefined {
  for (let at = dirname(ownFile); ; at = dirname(at)) {
    const folder = join(at, "node_modules", packageName);
    const version = versionIn(folder);
    if (version !== undefined) return { version, folder };
    if (dirname(at) === at) return undefined;
  }
}

function versionIn(folder: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isJsonObject(manifest) ? stringMember(manifest, "version") : undefined;
  } catch {
    return undefined;
  }
}
