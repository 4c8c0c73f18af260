import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Returns the command that runs this program in a shell: `toolyard` if it is installed globally or runs from a
 * checkout; `npx toolyard` if it is a dependency of a project or was started by `npx`.
 */
export function ownCommand(ownFile: string = fileURLToPath(import.meta.url)): string {
  const steps = /^(.+[\\/])node_modules[\\/]toolyard[\\/]/.exec(ownFile);
  // A project and the cache of npx have a package.json next to `node_modules`, but the global `node_modules` has none.
  return steps && existsSync(join(dirname(join(steps[1]!, "node_modules")), "package.json"))
    ? "npx toolyard"
    : "toolyard";
}
