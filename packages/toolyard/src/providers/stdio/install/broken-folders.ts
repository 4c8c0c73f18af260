import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { BrokenSigns } from "./runner.ts";

const MAX_FOLDERS = 5;
/** Maximum number of folders. An environment may consist of hundreds of packages. */
const MAX_IN_ALL = 2000;

/**
 * Returns the folders of a broken download that the output of a start names, and the folders that belong to them.
 * Returns only folders in a cache, because they will be removed.
 */
export function brokenFolders(
  lines: readonly string[],
  { says, parents, also, silent }: BrokenSigns,
): readonly string[] {
  const text = lines.join("\n");
  if (text.trim() === "") return silent?.().slice(0, MAX_FOLDERS) ?? [];
  if (!says.test(text)) return [];
  const ends = new RegExp(String.raw`[/\\](?:${parents.join("|")})[/\\][\w.-]{6,}`, "g");
  const found = new Set<string>();
  let from = 0;
  for (const { 0: end, index } of text.matchAll(ends)) {
    const start = startOfPath(text, index, from);
    from = index + end.length;
    const folder = existing(text.slice(start, from), parents);
    if (folder !== undefined) found.add(folder);
  }
  const named = Array.from(found).slice(0, MAX_FOLDERS);
  return Array.from(new Set([...named, ...(also?.(text, named) ?? [])])).slice(0, MAX_IN_ALL);
}

/** Returns where a possible path begins: after a quote, a bracket, a line break, or the preceding path. */
function startOfPath(text: string, end: number, from: number): number {
  let start = end;
  while (start > from && !`'"()\`\n`.includes(text[start - 1]!)) start -= 1;
  return start;
}

/**
 * Returns the longest path at the end of the text that is an existing folder and whose parent's name is in `parents`.
 * Other words may precede the path, and the path may contain spaces.
 */
function existing(text: string, parents: readonly string[]): string | undefined {
  for (const { index } of text.matchAll(/[/\\]|[A-Za-z]:[/\\]/g)) {
    const before = text[index - 1];
    if (before !== undefined && !/[\s/:=]/.test(before)) continue;
    const path = text.slice(index).replace(/^\/\/+/, "/");
    if (isFolder(path) && parents.includes(basename(dirname(path)))) return path;
  }
  return undefined;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
