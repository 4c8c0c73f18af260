import { realpathSync } from "node:fs";
import * as nodeModule from "node:module";
import * as hooks from "./hooks.ts";

/** Synchronous hooks, since Node 22.15: without a separate thread, which saves memory and start time. */
type RegisterHooks = (hooks: { resolve: unknown; load: unknown }) => unknown;

let installed = false;

/** Enables this process to import the user's TypeScript. Later calls have no effect. */
export function installHooks(cacheFolder: string | undefined): void {
  if (installed) return;
  installed = true;
  const data = cacheFolder === undefined ? {} : { cacheFolder };
  const { registerHooks } = nodeModule as { registerHooks?: RegisterHooks };
  if (!registerHooks) {
    // Throws if the working folder was removed, because Node 20 would then wait forever for its thread of hooks.
    realpathSync.native(".");
    return void nodeModule.register("./hooks.js", import.meta.url, { data });
  }
  hooks.initialize(data);
  registerHooks({ resolve: hooks.resolve, load: hooks.load });
}
