import { lstat, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { replaceFile } from "toolyard/service/replace-file";
import { isInRoots } from "toolyard/service/roots";
import { ToolFailure } from "./failure.ts";

/** Maximum number of parent folders that are created for one file. */
const MAX_NEW_FOLDERS = 32;
/** Maximum number of names in one listing. */
const MAX_LISTED = 10_000;
/** Maximum number of folders of a path that are checked. */
const MAX_STEPS = 256;

/** Access to the folders in which the tools may read and write. Symbolic links are resolved before the check. */
export class ModelFiles {
  readonly #roots: readonly string[];

  /** @param roots Absolute paths of the folders. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Returns the real path of an existing file or folder. Rejects with code `ENOENT` if it does not exist. */
  async existing(path: string): Promise<string> {
    const wanted = this.#absolute(path);
    const real = await realpath(wanted).catch(ignoreMissing);
    // Missing paths are reported only within the allowed folders; for others the error does not reveal whether they
    // exist.
    await this.#expectInside(real ?? (await nearestAbove(wanted)), path);
    if (real !== undefined) return real;
    throw Object.assign(new Error(`${path} does not exist.`), { code: "ENOENT" });
  }

  /** Returns the names of the regular files of a folder, sorted. Rejects with code `ENOENT` if it does not exist. */
  async list(path: string): Promise<readonly string[]> {
    const entries = await readdir(await this.existing(path), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted()
      .slice(0, MAX_LISTED);
  }

  /** Returns the real path of a folder, which is created if needed, and whether it was created. */
  async folder(path: string): Promise<{ readonly path: string; readonly created: boolean }> {
    const wanted = this.#absolute(path);
    const before = await stat(wanted).catch(() => undefined);
    if (before && !before.isDirectory())
      throw new ToolFailure(`${path} is not a folder, so it is not replaced. Give another name.`, "invalid_params");
    return { path: await this.#folder(wanted, path), created: before === undefined };
  }

  /** Returns the real path of a file to be written. Creates its parent folders. */
  async writable(path: string): Promise<string> {
    const wanted = this.#absolute(path);
    const folder = await this.#folder(dirname(wanted), path);
    const real = join(folder, basename(wanted));
    const stats = await lstat(real).catch(() => undefined);
    if (stats && !stats.isFile())
      throw new ToolFailure(
        `${path} is not a regular file, so it is not replaced. Give another name.`,
        "invalid_params",
      );
    return real;
  }

  /** Writes a file, whole or not at all. Returns its real path. */
  async write(path: string, content: string | Uint8Array): Promise<string> {
    const real = await this.writable(path);
    await replaceFile(real, content);
    return real;
  }

  /**
   * Returns the real path of a folder. Missing folders are created one by one, so that no symbolic link leads outside
   * meanwhile.
   */
  async #folder(wanted: string, path: string): Promise<string> {
    const missing: string[] = [];
    let at = wanted;
    for (;;) {
      const real = await realpath(at).catch(ignoreMissing);
      if (real !== undefined) {
        await this.#expectInside(real, path);
        return makeFolders(real, missing);
      }
      if (missing.push(basename(at)) > MAX_NEW_FOLDERS || dirname(at) === at) throw outside(path, this.#roots);
      at = dirname(at);
    }
  }

  #absolute(path: string): string {
    const [first] = this.#roots;
    if (first === undefined) throw noRoots();
    if (path === "" || path.includes("\0"))
      throw new ToolFailure(`A path must be a text without NUL, got ${JSON.stringify(path)}.`, "invalid_params");
    return isAbsolute(path) ? resolve(path) : resolve(first, path);
  }

  async #expectInside(real: string, path: string): Promise<void> {
    if (!(await isInRoots(real, this.#roots))) throw outside(path, this.#roots);
  }
}

/** Returns the real path of the nearest existing parent folder. */
async function nearestAbove(path: string): Promise<string> {
  let at = dirname(path);
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return real;
    at = dirname(at);
  }
  return at;
}

async function makeFolders(from: string, missing: readonly string[]): Promise<string> {
  let at = from;
  for (const name of missing.toReversed()) {
    at = join(at, name);
    await mkdir(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
  return at;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}

function noRoots(): ToolFailure {
  return new ToolFailure(
    'No folder is open to these tools. Add the line `roots = ["/home/me/models"]` below [gnn] of toolyard.toml, with ' +
      "the folders of your models; for a stand-alone server, set GNN_ROOTS.",
    "denied",
  );
}

function outside(path: string, roots: readonly string[]): ToolFailure {
  const message =
    `${path} is outside the folders that are open to these tools ` +
    `(${roots.map((root) => basename(root)).join(", ")}). Name a file in an open folder.`;
  return new ToolFailure(message, "denied");
}
