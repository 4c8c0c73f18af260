import { isSectionName, sectionMeantBy, type SectionName } from "./section-names.ts";

/** The marks that open or close a fence; what follows them is the info text. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^\s*##(?!#)[ \t]*([^:#]*)/;

/** A line outside of models is replaced by this. */
const BLANK = "";
/** Separates the models of two fences. */
const RULE = "---";

/**
 * Returns a document that has models in code fences with only these models: every other line is empty, so that line
 * numbers stay. Returns undefined if a section of GNN is outside of fences, because then a fence is an example, or if
 * no fence has a model. Takes time linear in the length.
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

/** Returns the line that closes a fence, or the number of lines if none does. */
function endOf(lines: readonly string[], start: number, fence: string): number {
  for (let index = start + 1; index < lines.length; index += 1) {
    const found = FENCE.exec(lines[index]!);
    if (found && found[1]![0] === fence[0] && found[1]!.length >= fence.length && isBare(lines[index]!)) return index;
  }
  return lines.length;
}

/** Returns whether a line has marks of a fence and no info text, so that it can close one. */
function isBare(line: string): boolean {
  return /^[`~]+$/.test(line.trim());
}

/** A block is a model if it declares variables and has this many sections; others are excerpts. */
const ENOUGH_SECTIONS = 3;

function isModel(block: readonly string[]): boolean {
  const names = new Set(block.map(sectionOf));
  names.delete(undefined);
  return names.has("StateSpaceBlock") && names.size >= ENOUGH_SECTIONS;
}

/** Sections with names that other documents use as headings. */
const USUAL: ReadonlySet<string> = new Set(["Time", "Equations", "Footer", "Signature", "Connections"]);

/** Returns whether a line is a heading that only GNN has. */
function isOwnSection(line: string): boolean {
  const name = sectionOf(line);
  return name !== undefined && !USUAL.has(name);
}

function sectionOf(line: string): SectionName | undefined {
  const words = HEADING.exec(line)?.[1]?.trim();
  if (words === undefined) return undefined;
  return isSectionName(words) ? words : sectionMeantBy(words);
}

/** Returns whether a text has a section that only GNN has, in Markdown or as CSV. */
export function hasSections(text: string): boolean {
  for (const [line] of text.matchAll(/^.*$/gm)) {
    if (isOwnSection(line)) return true;
    const cell = line.split(",", 1)[0]!.trim();
    if (cell !== line.trim() && isSectionName(cell.replace(/^"(.*)"$/, "$1"))) return true;
  }
  return false;
}
