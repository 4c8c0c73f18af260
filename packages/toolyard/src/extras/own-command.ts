import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Returns the command that runs this program in a shell: `toolyard` if it is installed globally or runs from a
 * checkout; `npx toolyard` if it is a dependency of a project or was started by `npx`.
 */
export function ownCommand(ownFile: string = fileURLToPath(import.meta.url)): string {
  const steps = /^(.+[\\/])node_modules[\\/]toolyard[\\/]/.exec(ownFile);
  // npm creates a package.json next to the node_modules of a project and of npx, but not next to the global one.
  return steps && existsSync(join(dirname(join(steps[1]!, "node_modules")), "package.json"))
    ? "npx toolyard"
    : "toolyard";
}
