import { createRequire } from "node:module";

/** Version of the package, from its package.json. The relative path is correct from `src/` and from `dist/`. */
export const VERSION: string = (createRequire(import.meta.url)("../../package.json") as { version: string }).version;
