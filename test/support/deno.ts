import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the Deno that `npm test` installs, else the one on PATH. */
export function denoProgram(): string {
  const own = fileURLToPath(new URL("../tools/node_modules/@deno/linux-x64-glibc/deno", import.meta.url));
  return existsSync(own) ? own : "deno";
}
