import { builtUrl } from "./built.ts";
import { transformCacheFolder } from "./cache-folder.ts";

/** Returns Node's arguments before the script's name that let a child run the user's TypeScript. */
export function typescriptNodeArgs(): readonly string[] {
  const folder = transformCacheFolder();
  return ["--import", builtUrl("register.js") + (folder === undefined ? "" : `?cache=${encodeURIComponent(folder)}`)];
}
