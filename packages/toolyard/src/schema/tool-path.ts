import { DEFAULT_SEPARATOR } from "../core/names/names.ts";
import { isPythonName } from "./python-names.ts";

export interface PathRules {
  readonly language: "python" | "typescript";
  /** Returns the name of the tool that a path in code reaches. */
  readonly reaches: (path: string) => string | undefined;
}

/**
 * Returns a tool's path in code: `tools.weather.forecast` for `weather__forecast`. Returns `tools["my tool"]` if the
 * language does not allow a part of the name after a dot, or if the short form reaches another tool or none.
 */
export function toolPath(name: string, { language, reaches }: PathRules): string {
  const path = shortPath(name);
  const parts = path.split(".");
  const isPlain = parts.every((part, at) =>
    language === "python" ? isPythonPart(part, at) : JAVASCRIPT_NAME.test(part) && !CONVERSIONS.has(part),
  );
  return isPlain && (path === name || reaches(path) === name) ? `tools.${path}` : `tools[${JSON.stringify(name)}]`;
}

function shortPath(name: string): string {
  const at = name.indexOf(DEFAULT_SEPARATOR, 1);
  const rest = at + DEFAULT_SEPARATOR.length;
  return at > 0 && rest < name.length ? `${name.slice(0, at)}.${name.slice(rest)}` : name;
}

const JAVASCRIPT_NAME = /^[A-Za-z_$][\w$]*$/;
/**
 * Names of methods that JavaScript calls without arguments to convert an object. A call of one of them without
 * arguments is not a tool call.
 */
const CONVERSIONS: ReadonlySet<string> = new Set(["toString", "valueOf", "toJSON"]);

/**
 * Returns whether Python allows this part after a dot. It does not allow names with two leading underscores, which
 * Python changes inside classes, and `.sync` after a tool, which waits for the tool's result.
 */
function isPythonPart(part: string, at: number): boolean {
  return isPythonName(part) && part !== "_path" && !(part === "sync" && at > 1);
}
