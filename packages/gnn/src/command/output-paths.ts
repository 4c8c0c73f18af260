import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { OptionError } from "toolyard";

/**
 * Returns a path for the output of each file: its name with another extension. Files of the same name keep their
 * folders, starting below the folder that all of them share. Throws an `OptionError` if two outputs would be one file.
 */
export function outputPaths(files: readonly string[], ending: string): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const key = sameName(nameOf(file, ending));
    const group = groups.get(key);
    if (group) group.push(file);
    else groups.set(key, [file]);
  }
  const shared = new Map(Array.from(groups, ([key, group]) => [key, sharedFolder(group)]));
  const taken = new Map<string, string>();
  return files.map((file) => {
    const name = nameOf(file, ending);
    const path = join(relative(shared.get(sameName(name))!, dirname(resolve(file))), name);
    const other = taken.get(sameName(path));
    if (other !== undefined)
      throw new OptionError(`${other} and ${file} would both be written to ${path}. Name only one of the two.`);
    taken.set(sameName(path), file);
    return path;
  });
}

function nameOf(file: string, ending: string): string {
  return basename(file, extname(file)) + ending;
}

/** Returns the path in lower case: some file systems are case-insensitive. */
function sameName(path: string): string {
  return path.toLowerCase();
}

/** Returns the innermost folder that contains all files. */
function sharedFolder(files: readonly string[]): string {
  let shared = dirname(resolve(files[0]!));
  for (const file of files.slice(1)) {
    const folder = dirname(resolve(file));
    while (!isInside(folder, shared) && dirname(shared) !== shared) shared = dirname(shared);
  }
  return shared;
}

function isInside(folder: string, parent: string): boolean {
  const path = relative(parent, folder);
  return !isAbsolute(path) && path.split(sep)[0] !== "..";
}
