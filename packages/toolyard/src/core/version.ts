import { createRequire } from "node:module";

/** Version of the package, from its package.json. The path is the same from `src/` and from `dist/`. */
export const VERSION: string = (createRequire(import.meta.url)("../../package.json") as { version: string }).version;
