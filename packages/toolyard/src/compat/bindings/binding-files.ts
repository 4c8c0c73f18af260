import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";

/** File extensions in order of preference. */
const SUFFIXES = [".ts", ".mts", ".js", ".mjs"] as const;
/** Matches a name of letters of any script, digits, `_` and `-`. */
const NAME = /^\p{L}[\p{L}\p{M}\p{N}_-]*$/u;

/**
 * Returns the file of one binding in a folder: `<name>/index.*` or `<name>.*`. Returns `undefined` if there is none or
 * the name is invalid.
 */
export function findBindingFile(folder: string, name: string): string | undefined {
  if (typeof name !== "string" || !NAME.test(name)) return undefined;
  // File systems store an accented letter as one code point or as two, so all spellings of the name are tried.
  const spellings = new Set([name, name.normalize("NFC"), name.normalize("NFD")]);
  const places = Array.from(spellings).flatMap((spelling) =>
    SUFFIXES.flatMap((suffix) => [join(folder, spelling, `index${suffix}`), join(folder, spelling + suffix)]),
  );
  return places.find(isFile);
}

// Also returns false if the path cannot be used, for example because a parent is a file.
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns the names of all possible bindings in a folder. Returns an empty list if the folder cannot be read. */
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
