import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The Deno of the tests' own tools, which `npm test` installs; otherwise the one on PATH. */
export function denoProgram(): string {
  const own = fileURLToPath(new URL("../tools/node_modules/@deno/linux-x64-glibc/deno", import.meta.url));
  return existsSync(own) ? own : "deno";
}
