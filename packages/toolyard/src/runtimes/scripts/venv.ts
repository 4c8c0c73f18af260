import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "./inside.ts";

/** Path of the interpreter in a virtual environment. */
const PYTHON = process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];

/** A virtual environment that the user created for a script. */
export interface Venv {
  readonly folder: string;
  /** Path of the interpreter inside the environment. An interpreter recognizes its environment by this path. */
  readonly python: string;
}

/** Returns the interpreter of the environment in a folder. */
export function venvPython(folder: string): string {
  return join(folder, ...PYTHON);
}

/**
 * Returns the nearest `.venv` between a folder and the tools folder, symbolic links resolved; undefined if there is
 * none.
 */
export function findVenv(from: string, root: string): Venv | undefined {
  for (let place = realOf(from); place === root || isInside(place, root); place = dirname(place)) {
    const folder = join(place, ".venv");
    const python = venvPython(folder);
    if (statSync(python, { throwIfNoEntry: false })?.isFile()) return { folder, python };
    if (place === root) return undefined;
  }
  return undefined;
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
