import * as nodeModule from "node:module";
import * as hooks from "./hooks.ts";

/** Synchronous hooks, since Node 22.15: no thread of their own, which saves its memory and its start. */
type RegisterHooks = (hooks: { resolve: unknown; load: unknown }) => unknown;

let installed = false;

/** Teaches this process to import the user's TypeScript. Once is enough; later calls do nothing. */
export function installHooks(): void {
  if (installed) return;
  installed = true;
  const { registerHooks } = nodeModule as { registerHooks?: RegisterHooks };
  if (registerHooks) registerHooks({ resolve: hooks.resolve, load: hooks.load });
  else nodeModule.register("./hooks.js", import.meta.url);
}
