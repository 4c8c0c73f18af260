import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";

/** In order of preference. */
const SUFFIXES = [".ts", ".mts", ".js", ".mjs"] as const;
const NAME = /^[A-Za-z][\w-]*$/;

/**
 * Returns the file of one binding in a folder: `<name>/index.*` or `<name>.*`. Returns `undefined` if there is none or
 * the name is invalid.
 */
export function findBindingFile(folder: string, name: string): string | undefined {
  if (!NAME.test(name)) return undefined;
  const places = SUFFIXES.flatMap((suffix) => [join(folder, name, `index${suffix}`), join(folder, name + suffix)]);
  return places.find(isFile);
}

// An obstacle in the path, such as a file instead of a folder, also throws.
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns the names of all possible bindings in a folder. Empty if the folder cannot be read. */
export async function bindingNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder).catch(() => []);
  const names = new Set(
    entries
      .filter((entry) => !/\.(?:d\.[cm]?ts|test\.[cm]?[jt]s)$/.test(entry))
      .map((entry) => (isModule(entry) ? entry.slice(0, -extname(entry).length) : entry)),
  );
  return [...names].filter((name) => findBindingFile(folder, name) !== undefined).toSorted();
}

function isModule(entry: string): boolean {
  return SUFFIXES.some((suffix) => suffix === extname(entry));
}
