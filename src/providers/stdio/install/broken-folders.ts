import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { BrokenSigns } from "./runner.ts";

const MAX_FOLDERS = 5;

/**
 * The folders of a broken download that these lines name. Only such are taken as lie in a cache's own folder, since
 * they are going to be removed.
 */
export function brokenFolders(lines: readonly string[], { says, parents }: BrokenSigns): readonly string[] {
  const text = lines.join("\n");
  if (!says.test(text)) return [];
  const named = new RegExp(String.raw`[^'"()\`\n]*?[/\\](?:${parents.join("|")})[/\\][\w.-]{6,}`, "g");
  const found = new Set<string>();
  for (const [match] of text.matchAll(named)) {
    const folder = existing(match, parents);
    if (folder !== undefined) found.add(folder);
  }
  return Array.from(found).slice(0, MAX_FOLDERS);
}

/** A path may stand after words, and have blanks itself: the longest that is there. */
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
