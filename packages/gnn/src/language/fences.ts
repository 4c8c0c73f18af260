import { isSectionName, sectionMeantBy, type SectionName } from "./section-names.ts";

/** Marks that open or close a code fence. The text after them is the info string. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^\s*##(?!#)[ \t]*([^:#]*)/;

/** Replacement of a line outside of models. */
const BLANK = "";
/** Line that separates the models of two fences. */
const RULE = "---";

/**
 * Returns a document in which only the models in code fences remain: every other line is empty, so that line numbers
 * stay valid. Returns undefined if a GNN section is outside of fences, because a fence is then an example, or if no
 * fence contains a model. The time is linear in the length.
 */
export function modelsInFences(text: string): string | undefined {
  if (!text.includes("```") && !text.includes("~~~")) return undefined;
  const lines = text.split(/\r\n|\n|\r/);
  const kept = lines.map(() => BLANK);
  let hasModel = false;
  let index = 0;
  while (index < lines.length) {
    const fence = FENCE.exec(lines[index]!);
    if (!fence) {
      if (isOwnSection(lines[index]!)) return undefined;
      index += 1;
      continue;
    }
    const end = endOf(lines, index, fence[1]!);
    const block = lines.slice(index + 1, end);
    if (isModel(block)) {
      if (hasModel) kept[index] = RULE;
      for (const [at, line] of block.entries()) kept[index + 1 + at] = line;
      hasModel = true;
    }
    index = end + 1;
  }
  return hasModel ? kept.join("\n") : undefined;
}

/** Returns the line that closes a fence, or the number of lines if no line closes it. */
function endOf(lines: readonly string[], start: number, fence: string): number {
  for (let index = start + 1; index < lines.length; index += 1) {
    const found = FENCE.exec(lines[index]!);
    if (found && found[1]![0] === fence[0] && found[1]!.length >= fence.length && isBare(lines[index]!)) return index;
  }
  return lines.length;
}

/** Returns whether a line consists of fence marks without an info string, so that it can close a fence. */
function isBare(line: string): boolean {
  return /^[`~]+$/.test(line.trim());
}

/** Minimum number of sections of a block that is a model and not an excerpt. The block must also declare variables. */
const ENOUGH_SECTIONS = 3;

function isModel(block: readonly string[]): boolean {
  const names = new Set(block.map(sectionOf));
  names.delete(undefined);
  return names.has("StateSpaceBlock") && names.size >= ENOUGH_SECTIONS;
}

/** Sections whose names are also common headings in other documents. */
const USUAL: ReadonlySet<string> = new Set(["Time", "Equations", "Footer", "Signature", "Connections"]);

/** Returns whether a line is a section heading that only GNN uses. */
function isOwnSection(line: string): boolean {
  const name = sectionOf(line);
  return name !== undefined && !USUAL.has(name);
}

function sectionOf(line: string): SectionName | undefined {
  const words = HEADING.exec(line)?.[1]?.trim();
  if (words === undefined) return undefined;
  return isSectionName(words) ? words : sectionMeantBy(words);
}

/** Returns whether a text has a section that only GNN uses, in Markdown or CSV. */
export function hasSections(text: string): boolean {
  for (const [line] of text.matchAll(/^.*$/gm)) {
    if (isOwnSection(line)) return true;
    const cell = line.split(",", 1)[0]!.trim();
    if (cell !== line.trim() && isSectionName(cell.replace(/^"(.*)"$/, "$1"))) return true;
  }
  return false;
}
