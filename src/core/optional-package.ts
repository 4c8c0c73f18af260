import { createRequire } from "node:module";
import { FailError } from "./errors.ts";
import { objectMember, type JsonObject } from "./json.ts";
import { fail } from "./outcome.ts";

/**
 * Awaits the import of a package that may have been left out (`npm install --omit=optional`). Rejects with a
 * `FailError` that says in one sentence what is missing for what, and the command that installs it.
 */
export async function installed<T>(name: string, purpose: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new FailError(fail("unavailable", missingPackage(name, purpose), { retryable: false, cause: error }));
  }
}

/** The sentence for a package that is not there. */
export function missingPackage(name: string, purpose: string): string {
  const command = `npm install ${name}${versionOf(name)}`;
  return `The optional package \`${name}\` is not installed, which ${purpose} needs: \`${command}\`.`;
}

function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(`'${name}'`)
  );
}

// Another version may be of another mind; the manifest lies one folder above `src/` and `dist/` alike. A child without
// rights cannot read it, and names no version.
function versionOf(name: string): string {
  const version = manifestVersions()[name];
  return typeof version === "string" ? `@${version}` : "";
}

function manifestVersions(): JsonObject {
  try {
    const manifest = createRequire(import.meta.url)("../../package.json") as JsonObject;
    return objectMember(manifest, "optionalDependencies") ?? {};
  } catch {
    return {};
  }
}
