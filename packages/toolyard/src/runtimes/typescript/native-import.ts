import { createRequire } from "node:module";
import { installHooks } from "./install-hooks.ts";

/** Calls Node's own `import()`, after installing the hooks if the graph needs them. */
export function importNatively(
  url: string,
  hooks: { readonly wanted: boolean; readonly cacheFolder: string | undefined },
): Promise<Record<string, unknown>> {
  if (hooks.wanted) installHooks(hooks.cacheFolder);
  return import(url) as Promise<Record<string, unknown>>;
}

/**
 * Removes CommonJS files from Node's cache. That cache identifies a file by its path, without the version in the URL.
 */
export function forgetCommonJs(paths: readonly string[]): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of paths) delete cache[path];
}
