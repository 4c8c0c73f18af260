// Module hooks for Node versions that run hooks in a separate thread; see preload.cjs.
import { createRequire } from "node:module";

const { libraryUrl } = createRequire(import.meta.url)("./libraries.cjs");
let url;

export function initialize(data) {
  ({ url } = data);
}

export async function resolve(specifier, context, next) {
  if (specifier === "toolyard/script" && context.conditions.includes("import")) return { url, shortCircuit: true };
  try {
    return await next(specifier, context);
  } catch (error) {
    const library = libraryUrl(specifier);
    if (library === undefined) throw error;
    return next(library, context);
  }
}
