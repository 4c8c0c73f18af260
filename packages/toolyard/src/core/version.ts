import { createRequire } from "node:module";

/** The package's version, from its own package.json: one folder up from `src/` and from `dist/` alike. */
export const VERSION: string = (createRequire(import.meta.url)("../../package.json") as { version: string }).version;
