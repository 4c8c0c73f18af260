import { createRequire } from "node:module";
import { basename } from "node:path";
import type * as sucraseModule from "sucrase";
import { sucrasePath } from "./sucrase-path.ts";
import { findUnsupported } from "./unsupported.ts";

type Sucrase = typeof sucraseModule;

/** Thrown for TypeScript of the user that cannot be run. The message names the file, the line and the alternative. */
export class TypeScriptError extends Error {
  override readonly name = "TypeScriptError";
}

// The module is loaded for the first TypeScript file, because loading takes 30 ms and JavaScript never needs it.
let loaded: Sucrase | undefined;

function sucrase(): Sucrase {
  loaded ??= createRequire(import.meta.url)(sucrasePath()) as Sucrase;
  return loaded;
}

/**
 * Converts TypeScript to JavaScript without changing line numbers, so that stack traces point at the user's code. The
 * result is always an ES module. Throws a `TypeScriptError` for a syntax error and for constructs without an equivalent
 * in JavaScript.
 */
export function transformTypeScript(source: string, path: string): string {
  const { transform, getFormattedTokens } = sucrase();
  try {
    const unsupported = findUnsupported(source, (text) => getFormattedTokens(text, { transforms: ["typescript"] }));
    if (unsupported) throw new TypeScriptError(`${basename(path)}:${unsupported.line}: ${unsupported.message}`);
    return transform(source, {
      transforms: ["typescript"],
      disableESTransforms: true,
      preserveDynamicImport: true,
      injectCreateRequireForImportRequire: true,
    }).code;
  } catch (error) {
    throw error instanceof TypeScriptError ? error : syntaxError(error, path);
  }
}

function syntaxError(error: unknown, path: string): TypeScriptError {
  const words = error instanceof Error ? error.message : String(error);
  const match = /^(?:Error transforming [^:]*: )?(.*?) \((\d+):(\d+)\)$/su.exec(words);
  const place = match ? `${basename(path)}:${match[2]}:${match[3]}` : basename(path);
  return new TypeScriptError(`${place}: ${match?.[1] ?? words}. The file is not valid TypeScript up to there.`, {
    cause: error,
  });
}
