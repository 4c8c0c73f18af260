// The types are in library.d.mts, which imports them from the package, because the package is compiled after this one.
import { importServer } from "./extras/server-package.ts";

export const { citationOf, DocumentError, linkTo, openLibrary } = await importServer<Record<string, unknown>>(
  "library",
  "",
);
