import { createRequire } from "node:module";
import { installHooks } from "./install-hooks.ts";

/** `import()` as Node does it, with the hooks in place where the graph asks for them. */
export function importNatively(
  url: string,
  hooks: { readonly wanted: boolean; readonly cacheFolder: string | undefined },
): Promise<Record<string, unknown>> {
  if (hooks.wanted) installHooks(hooks.cacheFolder);
  return import(url) as Promise<Record<string, unknown>>;
}

/** CommonJS files are kept by path, whatever version their URL says. */
export function forgetCommonJs(paths: readonly string[]): void {
  const { cache } = createRequire(import.meta.url);
  for (const path of paths) delete cache[path];
}
