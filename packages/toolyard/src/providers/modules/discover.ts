import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, sep } from "node:path";
import { matchesAnyGlob } from "../../core/text/glob.ts";
import { messageOf } from "../../core/errors.ts";

/** A module file that was found in a configured folder. */
export interface FoundModule {
  /** Dotted name derived from the path: `tools.export.mcp`. Unique among all found modules. */
  readonly name: string;
  /** Path as configured, for messages. */
  readonly path: string;
  /** Path with symbolic links resolved. */
  readonly file: string;
  /**
   * The configured folder that contains the module, symbolic links resolved; for a module that is configured as a file,
   * its folder.
   */
  readonly root: string;
}

export interface ModuleDiscovery {
  readonly modules: readonly FoundModule[];
  readonly problems: readonly { readonly subject: string; readonly message: string }[];
}

/** Suffixes in order of precedence, if a folder has several files of one name. */
const SUFFIXES = [".ts", ".mts", ".mjs", ".js", ".py"] as const;
const EXTENSIONS: ReadonlySet<string> = new Set(SUFFIXES);
const STEM = "mcp";
/** Name of the file to look for in a folder that is itself called `mcp` (G2). */
const META_STEM = "meta_mcp";
/** Maximum number of subfolders of one configured folder that are searched. */
const MAX_FOLDERS = 1000;

/**
 * Searches the configured folders in order, with subfolders sorted by name. Synchronous, because it needs few disk
 * accesses.
 */
export function discoverModules(paths: readonly string[], allowlist: readonly string[]): ModuleDiscovery {
  const modules: FoundModule[] = [];
  const problems: { subject: string; message: string }[] = [];
  const seen = new Set<string>();
  const add = (name: string, path: string, root: string): void => {
    const file = realpathSync(path);
    if (seen.has(file)) return;
    if (!isInside(file, root)) {
      problems.push({
        subject: path,
        message:
          `The module ${path} leads out of its folder ${root}, so it is not loaded. Configure the folder ` +
          "that contains it.",
      });
      return;
    }
    seen.add(file);
    if (isAllowed(name, allowlist)) modules.push({ name: uniqueName(name, modules), path, file, root });
  };
  for (const path of paths) {
    try {
      findIn(path, add, problems);
    } catch (error) {
      problems.push({
        subject: path,
        message: `The module path ${path} cannot be read: ${messageOf(error)}. Check \`paths\` of [modules].`,
      });
    }
  }
  return { modules, problems };
}

type Add = (name: string, path: string, root: string) => void;

function findIn(path: string, add: Add, problems: { subject: string; message: string }[]): void {
  const real = realpathSync(path);
  if (statSync(real).isFile()) return addFile(path, real, add);
  const root = basename(real);
  for (const { stem, file } of filesOf(real)) add(`${root}.${stem}`, join(path, file), real);
  const folders = readdirSync(real, { withFileTypes: true })
    .filter(
      (entry) =>
        (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith(".") && entry.name !== "node_modules",
    )
    .map((entry) => entry.name)
    .toSorted();
  if (folders.length > MAX_FOLDERS)
    problems.push({
      subject: path,
      message: `${path} has ${folders.length} sub-folders; only the first ${MAX_FOLDERS} are looked into.`,
    });
  for (const folder of folders.slice(0, MAX_FOLDERS)) {
    for (const { stem, file } of filesOf(join(real, folder)))
      add(`${root}.${folder}.${stem}`, join(path, folder, file), real);
  }
}

function addFile(path: string, real: string, add: Add): void {
  if (!EXTENSIONS.has(extname(real))) throw new Error(`a module file ends in ${Array.from(EXTENSIONS).join(", ")}`);
  add(basename(real, extname(real)), path, dirname(real));
}

function filesOf(folder: string): { readonly stem: string; readonly file: string }[] {
  const stems = basename(folder) === STEM ? [STEM, META_STEM] : [STEM];
  return stems.flatMap((stem) => {
    const suffix = SUFFIXES.find((one) => statSync(join(folder, stem + one), { throwIfNoEntry: false })?.isFile());
    return suffix === undefined ? [] : [{ stem, file: stem + suffix }];
  });
}

function isInside(file: string, root: string): boolean {
  return file.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Returns whether the list contains the dotted name, or the name of the folder (the part before `mcp`). */
function isAllowed(name: string, allowlist: readonly string[]): boolean {
  if (allowlist.length === 0 || matchesAnyGlob(allowlist, name)) return true;
  const steps = name.split(".");
  return matchesAnyGlob(allowlist, steps.at(-1) === "mcp" ? (steps.at(-2) ?? name) : name);
}

function uniqueName(name: string, modules: readonly FoundModule[]): string {
  let unique = name;
  for (let count = 2; modules.some((module) => module.name === unique); count += 1) unique = `${name}-${count}`;
  return unique;
}
