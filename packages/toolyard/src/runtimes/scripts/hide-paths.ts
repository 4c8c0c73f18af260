import { homedir } from "node:os";
import { HELPER_FOLDERS } from "../calling/helpers.ts";

/**
 * Removes paths of this machine from a script's output: its own folder becomes relative, the home folder becomes `~`,
 * and file paths in tracebacks of Python and Node become file names. Other paths are kept, because the message may be
 * about them.
 */
export function hidePaths(text: string, folders: readonly string[]): string {
  let result = text;
  for (const folder of [...folders, ...HELPER_FOLDERS].toSorted((a, b) => b.length - a.length)) {
    if (folder.length <= 1) continue;
    result = result.replaceAll(`file://${folder}/`, "").replaceAll(`${folder}/`, "").replaceAll(folder, ".");
  }
  result = result.replace(/(File ")[^"\n]*[/\\]([^"/\\\n]+")/g, "$1$2");
  if (result.includes("at ")) result = result.split("\n").map(cutFrame).join("\n");
  const home = homedir();
  return home.length > 1 ? result.replaceAll(home, "~") : result;
}

// Keeps only the file name and the position of a stack line: `at run (file:///a/b/c.mjs:1:2)` or `at /a/b/c.js:1:2`.
function cutFrame(line: string): string {
  const start = line.indexOf("at ");
  if (start === -1 || line.slice(0, start).trim() !== "" || !/:\d{1,9}:\d{1,9}\)?$/.test(line)) return line;
  const bracket = line.lastIndexOf("(");
  const from = bracket === -1 ? start + "at ".length : bracket + 1;
  const cut = Math.max(line.lastIndexOf("/"), line.lastIndexOf("\\")) + 1;
  return cut > from ? line.slice(0, from) + line.slice(cut) : line;
}
