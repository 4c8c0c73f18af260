import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "toolyard";

/** Returns the root folder of this package, which contains the given file. */
export function ownRoot(ownFile: string = fileURLToPath(import.meta.url)): string {
  for (let at = dirname(ownFile); ; at = dirname(at)) {
    if (nameIn(at) === NAME) return at;
    if (dirname(at) === at) throw new Error(`${ownFile} is not in a package with the name ${NAME}.`);
  }
}

function nameIn(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: string }).name;
  } catch {
    return undefined;
  }
}

/**
 * Makes `toolyard` in a `node_modules` folder a link to this program, so that packages there use the same program. The
 * program may have moved since the last use, for example to another cache of `npx`.
 */
export function linkSelf(modules: string, root: string = ownRoot()): void {
  const link = join(modules, NAME);
  if (targetOf(link) === realpathSync(root)) return;
  const draft = join(modules, `.${NAME}-${randomBytes(6).toString("hex")}`);
  try {
    symlinkSync(root, draft, "junction");
    // On Windows, renaming does not replace an existing link.
    if (process.platform === "win32") rmSync(link, { recursive: true, force: true });
    renameSync(draft, link);
  } catch (error) {
    rmSync(draft, { force: true });
    // Another process may have linked its own copy of the program, or the folder is not writable. Any copy is
    // sufficient.
    if (!existsSync(join(link, "package.json"))) throw error;
  }
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}
