import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import type { ExtraName } from "./extras.ts";
import { getExtra } from "./extras.ts";
import { findPackage, nearestPackage, type FoundPackage, type SearchPlaces } from "./find-package.ts";
import { ownCommand } from "./own-command.ts";
import { linkSelf } from "./self-link.ts";

/** Exports of an installed extra's `load.mjs`. */
interface ExtraLoader {
  load(specifier: string): Promise<unknown>;
}

/**
 * Imports a module of an extra, from next to this program or from the data folder. If the extra is not installed,
 * rejects with a `FailError` of kind `unavailable` that names the command to install it.
 * @param purpose Feature that requires the extra, for the message.
 */
export async function importExtra<T>(
  name: ExtraName,
  specifier: string,
  { purpose, ...places }: SearchPlaces & { readonly purpose?: string } = {},
): Promise<T> {
  const found = findPackage(name, packageOf(specifier), places);
  if (!found) {
    const message = missingExtra(name, purpose);
    throw new FailError(fail("unavailable", message, { retryable: false }));
  }
  if (found.place === "beside") return (await import(specifier)) as T;
  linkIfOwn(name, found);
  const loader = (await import(pathToFileURL(found.from).href)) as ExtraLoader;
  return (await loader.load(specifier)) as T;
}

/** Returns the path of a file of an extra, such as a WebAssembly module, or `undefined` if it is not installed. */
export function resolveExtra(name: ExtraName, specifier: string, places: SearchPlaces = {}): string | undefined {
  const found = findPackage(name, packageOf(specifier), places);
  if (!found) return undefined;
  if (found.place === "installed") linkIfOwn(name, found);
  try {
    return createRequire(found.from).resolve(specifier);
  } catch {
    return undefined;
  }
}

function linkIfOwn(name: ExtraName, { from }: FoundPackage): void {
  if (getExtra(name).isOwn) linkSelf(join(dirname(from), "node_modules"));
}

/** Returns the message for an extra that is not installed, with the command that installs it. */
export function missingExtra(name: ExtraName, purpose: string = getExtra(name).purpose): string {
  const { megabytes } = getExtra(name);
  return (
    `The extra \`${name}\` is not installed, which is required for ${purpose}.${unfitText(name)} ` +
    `Install it: \`${addCommand(name)}\` (${megabytes} MB).`
  );
}

/** Returns the command that installs an extra, in the form that runs this program. */
export function addCommand(name: ExtraName): string {
  return `${ownCommand()} extras add ${name}`;
}

/** Returns a sentence about unsuitable versions of the packages next to this program. */
function unfitText(name: ExtraName): string {
  const unfit = Object.entries(getExtra(name).versions).flatMap(([packageName, pinned]) => {
    const beside = nearestPackage(packageName);
    const fits = beside === undefined || findPackage(name, packageName)?.place === "beside";
    return fits ? [] : [`\`${packageName}\` ${beside.version} is installed next to it, but ${pinned} is required.`];
  });
  return unfit.length === 0 ? "" : ` ${unfit.join(" ")}`;
}

/** Returns the package name of a module: `@scope/name` for `@scope/name/path`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
