import { statSync } from "node:fs";

/** Source suffixes by output suffix. TypeScript imports name the output: `x.js` means `x.ts` if only that exists. */
const SOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  [".js", [".ts"]],
  [".mjs", [".mts"]],
]);

/** Endings that are tried for an import without an extension, in this order. */
const ENDINGS = [".ts", ".mts", ".js", ".mjs", ".json", "/index.ts", "/index.js"] as const;

/** Returns the file of an import path, by the rules of TypeScript; `undefined` if there is none. */
export function resolveFile(path: string): string | undefined {
  if (isFile(path)) return path;
  const extension = /\.[^./\\]+$/u.exec(path)?.[0];
  for (const source of SOURCES.get(extension ?? "") ?? []) {
    const candidate = path.slice(0, -extension!.length) + source;
    if (isFile(candidate)) return candidate;
  }
  for (const ending of ENDINGS) if (isFile(path + ending)) return path + ending;
  return undefined;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
