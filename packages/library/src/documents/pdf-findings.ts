import type { PageLines } from "./pdf-lines.ts";
import { doubledRuns, gutterOf, inColumns, lineNumberRuns, without } from "./pdf-order.ts";

/** A property of a page that its reader repaired, or that makes its text unreliable. */
export interface PdfFinding {
  /** Message for the user. The page numbers follow it. */
  readonly message: string;
  /** Page numbers, from 1. */
  readonly pages: readonly number[];
}

/** Minimum number of runs that are drawn twice. Fewer on a page are coincidence. */
const MIN_DOUBLED_RUNS = 3;
const MIN_UNMAPPED = 5;

/** Returns the repaired page; undefined if it does not have the fault. */
type Repair = (page: PageLines) => PageLines | undefined;

const DOUBLED = "Pages with text that is drawn twice, which was read once";

/** Repairs in the order in which they are applied. Each repair expects a page that the previous ones have repaired. */
const REPAIRS: readonly (readonly [message: string, repair: Repair])[] = [
  [DOUBLED, withoutDoubledText],
  ["Pages with line numbers in the margin, which were left out", withoutLineNumbers],
  ["Pages with columns that are drawn row by row, which were read column by column", inColumns],
];

const FAULTS: readonly (readonly [message: string, isFound: (page: PageLines) => boolean])[] = [
  [
    "Pages with a table or short columns that are drawn row by row, so that their sentences may be mixed",
    (page) => gutterOf(page) !== undefined,
  ],
  [
    "Pages with text in a font whose encoding is unknown, which was left out",
    ({ isUndecoded = false, isScan }) => isUndecoded && !isScan,
  ],
  [DOUBLED, ({ hasDoubledText = false }) => hasDoubledText],
  [
    "Pages with text that cannot be seen (in the colour of its background, transparent, covered, or outside of the " +
      "page), which was left out",
    ({ hasHiddenText = false }) => hasHiddenText,
  ],
  [
    "Pages with too many painted areas to find text in the colour of its background or covered text, which was read",
    ({ hasUncheckedText = false }) => hasUncheckedText,
  ],
  ["Pages with letters that the file maps to no character, so that words are incomplete", hasUnmappedGlyphs],
];

export interface RepairedPages {
  readonly pages: readonly PageLines[];
  readonly findings: readonly PdfFinding[];
}

/** Repairs pages. Reports the repairs, and text that is unreliable. */
export function repairPages(pages: readonly PageLines[]): RepairedPages {
  const found = new Map<string, number[]>();
  const report = (message: string, page: number): void =>
    void found.set(message, Array.from(new Set([...(found.get(message) ?? []), page])));
  const repaired = pages.map((page, at) => {
    let own = page;
    for (const [message, repair] of REPAIRS) {
      const next = repair(own);
      if (next) report(message, at + 1);
      own = next ?? own;
    }
    for (const [message, isFound] of FAULTS) if (isFound(own)) report(message, at + 1);
    return own;
  });
  return { pages: repaired, findings: Array.from(found, ([message, own]) => ({ message, pages: own })) };
}

function withoutDoubledText(page: PageLines): PageLines | undefined {
  const doubled = doubledRuns(page);
  return doubled.size >= MIN_DOUBLED_RUNS ? without(page, doubled) : undefined;
}

function withoutLineNumbers(page: PageLines): PageLines | undefined {
  const numbers = lineNumberRuns(page);
  return numbers.size > 0 ? without(page, numbers) : undefined;
}

/** Private-use characters, the replacement character, and control characters, none of which is a letter. */
const UNMAPPED = /(?![\t\n\v\f\r])[\p{Co}\p{Cc}\u{fffd}]/gu;

function hasUnmappedGlyphs({ texts }: PageLines): boolean {
  const unmapped = texts.reduce((sum, { text }) => sum + (text.match(UNMAPPED)?.length ?? 0), 0);
  return unmapped >= MIN_UNMAPPED;
}
