import { realpathSync } from "node:fs";

/** Returns the command line itself. A link to it, as package managers make them, may lead to another place tomorrow. */
export function ownProgram(): string {
  return realpathSync(process.argv[1] ?? "");
}
