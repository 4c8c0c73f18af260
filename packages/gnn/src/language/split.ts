import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import { hasStatements, isSectionName, nearestSection, sectionMeantBy } from "./section-names.ts";
import { NOTHING, type Line, type LineRange, type Source, type Span } from "./source.ts";
import { firstChars } from "toolyard/text";

/** The lines of one section, without its heading. */
export interface SectionLines extends LineRange {
  readonly name: string;
  readonly heading: Span;
}

/** The lines of one model. */
export interface ModelLines {
  readonly header: LineRange;
  readonly sections: readonly SectionLines[];
  readonly span: Span;
}

/** A range of consecutive lines that the next line may extend. */
interface OpenRange extends LineRange {
  end: number;
}

interface OpenSection extends OpenRange {
  readonly name: string;
  readonly heading: Span;
}

interface OpenModel {
  readonly header: OpenRange;
  readonly sections: OpenSection[];
  readonly names: Set<string>;
  readonly from: number;
}

const HEADING = /^\s*##(?!#)[ \t]*([^:]*)/;
const RULE = /^\s*---+\s*$/;
const FENCE = /^\s*```/;
/** Minimum number of sections of a model after which a horizontal rule and a GNNSection begin another model. */
const ENOUGH_SECTIONS = 3;

/** Divides a text into models and their sections, starting at a line. The time is linear in the length of the text. */
export function splitModels(source: Source, first: number, reporter: Reporter): readonly ModelLines[] {
  return new Splitter(source, reporter).split(first);
}

const HASH = 35;
const HYPHEN = 45;
const BACKTICK = 96;

class Splitter {
  readonly #source: Source;
  readonly #reporter: Reporter;
  readonly #models: OpenModel[] = [];
  #followers: Int32Array | undefined;
  #fences: Int32Array | undefined;
  #overflow = false;
  /** Range that the next line belongs to: the last section, or the lines before the first one. */
  #range: OpenRange = { first: 0, end: 0 };

  constructor(source: Source, reporter: Reporter) {
    this.#source = source;
    this.#reporter = reporter;
  }

  /** Returns the first line from `index` on that is not blank. */
  #follower(index: number): number {
    this.#followers ??= nextLines(this.#source, isSignificant);
    return this.#followers[index]!;
  }

  /** Returns the first line from `index` on that starts or ends a code fence. */
  #fence(index: number): number {
    this.#fences ??= nextLines(this.#source, isFence);
    return this.#fences[index]!;
  }

  split(first: number): readonly ModelLines[] {
    const { lineCount } = this.#source;
    this.#open(first < lineCount ? this.#source.from(first) : 0, first);
    for (let index = first; index < lineCount; index += 1) index = this.#take(index);
    const end = this.#source.to(lineCount - 1);
    return this.#models.map(({ header, sections, from }, index) => ({
      header,
      sections,
      span: { from, to: this.#models[index + 1]?.from ?? end },
    }));
  }

  /** Processes the line, or the fenced block that starts there. Returns the index of the last processed line. */
  #take(index: number): number {
    const begins = this.#source.firstCode(index);
    let last = index;
    if (begins === HASH) {
      const line = this.#source.line(index);
      const name = this.#headingOf(line);
      if (name !== undefined) {
        this.#begin(name, line, index);
        return index;
      }
    } else if (begins === HYPHEN) {
      const { text, to } = this.#source.line(index);
      if (RULE.test(text) && this.#endsModel(index)) {
        this.#open(to, index + 1);
        return index;
      }
    } else if (begins === BACKTICK && this.#opensFence(index)) last = this.#fence(index + 1);
    this.#range.end = last + 1;
    return last;
  }

  /** A fenced block in a text section is an example, even if it looks like a section. */
  #opensFence(index: number): boolean {
    const section = this.#model().sections.at(-1);
    if (section === undefined || hasStatements(section.name)) return false;
    return this.#fence(index) === index && this.#fence(index + 1) !== -1;
  }

  #model(): OpenModel {
    return this.#models.at(-1)!;
  }

  /** Starts a model at this offset and line. */
  #open(from: number, first: number): void {
    if (this.#models.length >= LIMITS.models) {
      if (!this.#overflow) this.#tooMany(from);
      this.#overflow = true;
      this.#models.pop();
    }
    this.#range = { first, end: first };
    this.#models.push({ header: this.#range, sections: [], names: new Set(), from });
  }

  #tooMany(from: number): void {
    this.#reporter.report({
      code: "E008",
      span: { from, to: from },
      message: `The file has more than ${LIMITS.models} models; of the excess models, only the last one is read.`,
      mend: "Split the file.",
    });
  }

  #begin(name: string, line: Line, index: number): void {
    const isSecond = name === "GNNSection" && this.#model().names.has(name);
    if (isSecond) {
      this.#reporter.report({
        code: "W004",
        span: line,
        message: "A second GNNSection starts another model.",
        mend: "Put a line --- before it.",
      });
      this.#open(line.from, index);
    }
    const model = this.#model();
    const section = { name, heading: { from: line.from, to: line.to }, first: index + 1, end: index + 1 };
    model.sections.push(section);
    this.#range = section;
    model.names.add(name);
  }

  /** Returns whether the rule in this line separates two models, instead of being decoration. */
  #endsModel(index: number): boolean {
    const model = this.#model();
    const follower = this.#follower(index + 1);
    if (model.sections.length === 0 || follower === -1) return false;
    const name = plainHeading(this.#source.line(follower).text);
    if (name === undefined) return false;
    const isWhole = model.names.has("StateSpaceBlock") || model.sections.length >= ENOUGH_SECTIONS;
    return model.names.has(name) || (name === "GNNSection" && isWhole);
  }

  /** Returns the section that a line begins, or undefined if the line is not a heading. */
  #headingOf(line: Line): string | undefined {
    const words = HEADING.exec(line.text)?.[1]?.trim();
    if (words === undefined || words === "") return undefined;
    if (isSectionName(words)) return words;
    const meant = sectionMeantBy(words);
    if (meant !== undefined) {
      this.#remark(line, `The heading ${quoted(words)} is read as ${meant}.`, `Write ## ${meant}.`);
      return meant;
    }
    const near = this.#reporter.isFull ? undefined : nearestSection(words);
    if (!/\s/.test(words)) {
      this.#unknown(line, words, near);
      return words;
    }
    this.#remark(
      line,
      `${quoted(words)} is not the name of a section, so the line is read as a comment.`,
      "Begin a comment with ###.",
    );
    return undefined;
  }

  #unknown(line: Line, name: string, near: string | undefined): void {
    if (near !== undefined)
      this.#remark(line, `There is no section ${quoted(name)}; its lines are kept as text.`, `Write ## ${near}.`);
    else
      this.#reporter.report({
        code: "N005",
        span: line,
        message: `${quoted(name)} is not a standard GNN section; its lines are kept as text.`,
      });
  }

  #remark(line: Line, message: string, mend: string): void {
    this.#reporter.report({ code: "W005", span: line, message, mend });
  }
}

function quoted(words: string): string {
  return JSON.stringify(words.length > 60 ? `${firstChars(words, 60)}…` : words);
}

function plainHeading(text: string): string | undefined {
  const words = HEADING.exec(text)?.[1]?.trim();
  return words === undefined || words === "" ? undefined : (sectionMeantBy(words) ?? words);
}

/** Returns whether a line is neither empty nor a comment. */
function isSignificant(source: Source, index: number): boolean {
  const code = source.firstCode(index);
  return code !== NOTHING && (code !== HASH || HEADING.test(source.line(index).text));
}

/** Returns whether the line starts or ends a code fence. */
function isFence(source: Source, index: number): boolean {
  return source.firstCode(index) === BACKTICK && FENCE.test(source.line(index).text);
}

/**
 * Returns, for each line, the index of the next line that satisfies the condition, or -1. The array has one more entry
 * than there are lines.
 */
function nextLines(source: Source, fits: (source: Source, index: number) => boolean): Int32Array {
  const next = new Int32Array(source.lineCount + 1).fill(-1);
  for (let index = source.lineCount - 1; index >= 0; index -= 1)
    next[index] = fits(source, index) ? index : next[index + 1]!;
  return next;
}
