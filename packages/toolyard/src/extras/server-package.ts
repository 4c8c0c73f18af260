import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fail } from "../core/calls/outcome.ts";
import { FailError } from "../core/errors.ts";

/** Servers in packages of their own, by the name after `@toolyard/`. */
export type ServerPackage = "gnn" | "library";

/**
 * Imports a module that such a package exports. The packages depend on this one, so the caller names the type. Rejects
 * with a `FailError` of the kind `unavailable` if the package is not installed.
 */
export async function importServer<T>(server: ServerPackage, path: string): Promise<T> {
  const name = `@toolyard/${server}`;
  try {
    return (await import(`${name}/${path}`)) as T;
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new FailError(fail("unavailable", missingServer(name), { retryable: false, cause: error }));
  }
}

/** Returns a folder of the built package. Throws Node's error if the package is not installed. */
export function serverFolder(server: ServerPackage, folder: string): string {
  const manifest = createRequire(import.meta.url).resolve(`@toolyard/${server}/package.json`);
  return join(dirname(manifest), "dist", folder);
}

function missingServer(name: string): string {
  return `The package \`${name}\` is not installed. Install it beside this one: \`npm install ${name}\`.`;
}

function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(`'${name}'`)
  );
}
