import { dirname, join } from "node:path";
import { fail } from "../core/calls/outcome.ts";
import { FailError } from "../core/errors.ts";
import { importExtra, missingExtra, resolveExtra } from "./import-extra.ts";

/** Servers in separate packages, by the name after `@toolyard/`. Each is an extra of the same name. */
export type ServerPackage = "gnn" | "library";

/**
 * Imports a module that a server package exports; "" is the package itself. The packages depend on this one, so the
 * caller specifies the type. Rejects with a `FailError` of kind `unavailable` if the extra is not installed.
 */
export function importServer<T>(server: ServerPackage, path: string): Promise<T> {
  return importExtra<T>(server, `@toolyard/${server}${path === "" ? "" : `/${path}`}`);
}

/** Returns a folder of the built package. Throws a `FailError` if the extra is not installed. */
export function serverFolder(server: ServerPackage, folder: string): string {
  const manifest = resolveExtra(server, `@toolyard/${server}/package.json`);
  if (manifest === undefined) throw new FailError(fail("unavailable", missingExtra(server), { retryable: false }));
  return join(dirname(manifest), "dist", folder);
}
