// Its declarations are library.d.mts: those of the package, which are compiled after this one's.
import { importServer } from "./extras/server-package.ts";

export const { citationOf, DocumentError, linkTo, openLibrary } = await importServer<Record<string, unknown>>(
  "library",
  "",
);
