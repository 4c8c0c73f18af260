import { realpathSync } from "node:fs";

/**
 * Returns the real path of this program. A link to it, as package managers create, may later point to another version.
 */
export function ownProgram(): string {
  return realpathSync(process.argv[1] ?? "");
}
