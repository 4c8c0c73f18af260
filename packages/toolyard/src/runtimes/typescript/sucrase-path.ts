import { fileURLToPath } from "node:url";

/**
 * Returns the path of the transformer of TypeScript, which the build bundles into one CommonJS file
 * (`scripts/vendor.mjs`). Code that runs from source, as in tests, uses the built file too.
 */
export function sucrasePath(from: string = import.meta.url): string {
  const path = from.endsWith(".ts") ? "../../../dist/vendor/sucrase.cjs" : "../../vendor/sucrase.cjs";
  return fileURLToPath(new URL(path, from));
}
