export type { ExtraName } from "./extras/extras.ts";
export { importExtra, missingExtra, resolveExtra } from "./extras/import-extra.ts";
