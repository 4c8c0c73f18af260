import { readdir, realpath, stat } from "node:fs/promises";
import { basename, extname, isAbsolute, join, resolve } from "node:path";
import { isInRoots } from "toolyard/service/roots";
import { DocumentError } from "./document-error.ts";
import { FOLDER_EXTENSIONS } from "./formats.ts";

/** Maximum number of files in one folder tree. Larger trees are added folder by folder. */
const MAX_FILES = 20_000;

/** Decides which files may be read. Symbolic links are resolved first. */
export interface FilePolicy {
  /** Returns the real path of a regular file or a folder. Rejects with a `DocumentError`. */
  resolve(path: string): Promise<string>;
}

/** Returns the policy for a user at the command line, who may read every file. */
export function anyFile(cwd: string): FilePolicy {
  return { resolve: (path) => realPathOf(resolve(cwd, path), path) };
}

/** Returns the policy for a model, which may read only files in these folders. `roots` are absolute. */
export function openFolders(roots: readonly string[]): FilePolicy {
  return {
    async resolve(path) {
      const [first] = roots;
      if (first === undefined)
        throw new DocumentError(
          "ACCESS_DENIED",
          'No folder is open to these tools. Add the line `roots = ["/home/me/books"]` below [library] of ' +
            "toolyard.toml, with the folders of your documents; for a server without a hub, set LIBRARY_ROOTS. " +
            "A user can add any file with `toolyard library add`.",
        );
      const wanted = isAbsolute(path) ? resolve(path) : resolve(first, path);
      const real = await realpath(wanted).catch(() => undefined);
      // Outside the allowed folders the error does not reveal whether the path exists.
      if (!(await isInRoots(real ?? wanted, roots)))
        throw new DocumentError(
          "ACCESS_DENIED",
          `${path} is outside the folders that are open to these tools. Name a file in an open folder.`,
        );
      return realPathOf(wanted, path, isAbsolute(path) ? undefined : hintOf(first));
    },
  };
}

/** Explains relative paths to callers who repeat the name of the allowed folder in the path. */
function hintOf(folder: string): string {
  const begins = `relative paths start from the first open folder, ${basename(folder)}`;
  return `: ${begins}. Name a file in it, or "." for the whole folder`;
}

async function realPathOf(wanted: string, given: string, hint = ""): Promise<string> {
  if (given === "" || given.includes("\0"))
    throw new DocumentError("VALIDATION_ERROR", `A path must be a text without NUL, got ${JSON.stringify(given)}.`);
  const real = await realpath(wanted).catch(() => undefined);
  if (real === undefined) throw new DocumentError("DOCUMENT_NOT_FOUND", `${given} is not there${hint}.`);
  const stats = await stat(real);
  if (stats.isFile() || stats.isDirectory()) return real;
  throw new DocumentError("VALIDATION_ERROR", `${given} is neither a file nor a folder.`);
}

/**
 * Returns the file itself, or all readable files of a folder, sorted by name, without hidden files. Rejects with the
 * signal's reason if it is aborted.
 */
export async function filesOf(
  path: string,
  { extensions = FOLDER_EXTENSIONS, signal }: { extensions?: readonly string[]; signal?: AbortSignal | undefined } = {},
): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const files: string[] = [];
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    signal?.throwIfAborted();
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.name.startsWith(".")) continue;
      const own = join(folder, entry.name);
      // Symbolic links are skipped: they may lead outside the folder, or form cycles.
      if (entry.isDirectory()) folders.push(own);
      else if (entry.isFile() && extensions.includes(extname(entry.name).toLowerCase())) files.push(own);
      if (files.length > MAX_FILES)
        throw new DocumentError(
          "TOO_LARGE",
          `${path} holds more than ${MAX_FILES} files that can be read. Add its folders one by one.`,
        );
    }
  }
  return files.toSorted();
}
