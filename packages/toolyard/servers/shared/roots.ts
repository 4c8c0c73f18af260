import { realpath } from "node:fs/promises";
import { delimiter, isAbsolute, relative, sep } from "node:path";
import { OptionError } from "toolyard";
import type { Environment } from "./environment.ts";

/**
 * Reads the folders in a variable, separated by `:` (`;` on Windows). Throws an `OptionError` for a relative path; its
 * message contains the example.
 */
export function rootsOf(environment: Environment, name: string, example: string): readonly string[] {
  const roots = (environment[name] ?? "")
    .split(delimiter)
    .map((root) => root.trim())
    .filter((root) => root !== "");
  const wrong = roots.find((root) => !isAbsolute(root));
  if (wrong === undefined) return roots;
  throw new OptionError(
    `${name} must be absolute paths with ${delimiter} between them, such as ${example}, got ${JSON.stringify(wrong)}.`,
  );
}

/** Returns whether a real path is one of the folders or inside one of them. Links to the folders are resolved. */
export async function isInRoots(real: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const step = relative(await realpath(root).catch(() => root), real);
    if (step === "" || (step !== ".." && !step.startsWith(`..${sep}`) && !isAbsolute(step))) return true;
  }
  return false;
}
