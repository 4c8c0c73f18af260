import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "./inside.ts";

/** Where a virtual environment has its interpreter. */
const PYTHON = process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];

/** A virtual environment that somebody made for a script. */
export interface Venv {
  readonly folder: string;
  /** Its interpreter by its path there, since that is what an interpreter knows its environment by. */
  readonly python: string;
}

/** The interpreter of the environment in a folder. */
export function venvPython(folder: string): string {
  return join(folder, ...PYTHON);
}

/** The nearest `.venv` from a folder up to the tools folder, whose links are resolved; undefined where none is. */
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
