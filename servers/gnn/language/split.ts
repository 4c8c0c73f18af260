import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import { hasStatements, isSectionName, nearestSection, sectionMeantBy } from "./section-names.ts";
import type { Line, Source, Span } from "./source.ts";

/** The lines of one section, without its heading. */
export interface SectionLines {
  readonly name: string;
  readonly heading: Span;
  readonly lines: readonly Line[];
}

/** The lines of one model. */
export interface ModelLines {
  readonly header: readonly Line[];
  readonly sections: readonly SectionLines[];
  readonly span: Span;
}

interface OpenSection {
  readonly name: string;
  readonly heading: Span;
  readonly lines: Line[];
}

interface OpenModel {
  readonly header: Line[];
  readonly sections: OpenSection[];
  readonly names: Set<string>;
  readonly from: number;
}

const HEADING = /^\s*##(?!#)[ \t]*([^:]*)/;
const RULE = /^\s*---+\s*$/;
const FENCE = /^\s*```/;
/** A model that has so many sections is whole enough for a rule and a GNNSection to begin another. */
const ENOUGH_SECTIONS = 3;

/** Cuts a text into models and their sections, from a line on. Takes time linear in the text's length. */
export function splitModels(source: Source, first: number, reporter: Reporter): readonly ModelLines[] {
  return new Splitter(source, reporter).split(first);
}

class Splitter {
  readonly #lines: readonly Line[];
  readonly #reporter: Reporter;
  readonly #models: OpenModel[] = [];
  #followers: Int32Array | undefined;
  #fences: Int32Array | undefined;
  #overflow = false;

  constructor(source: Source, reporter: Reporter) {
    this.#lines = source.lines;
    this.#reporter = reporter;
  }

  /** The first line that says something, from a line on. */
  #follower(index: number): number {
    this.#followers ??= nextLines(this.#lines, ({ text }) => isSignificant(text));
    return this.#followers[index]!;
  }

  /** The first line that begins or ends what is fenced, from a line on. */
  #fence(index: number): number {
    this.#fences ??= nextLines(this.#lines, ({ text }) => FENCE.test(text));
    return this.#fences[index]!;
  }

  split(first: number): readonly ModelLines[] {
    this.#open(this.#lines[first]?.from ?? 0);
    for (let index = first; index < this.#lines.length; index += 1) index = this.#take(index);
    const end = this.#lines.at(-1)!.to;
    return this.#models.map(({ header, sections, from }, index) => ({
      header,
      sections,
      span: { from, to: this.#models[index + 1]?.from ?? end },
    }));
  }

  /** Takes the line, or what is fenced from there on. Returns the index of the last line that it took. */
  #take(index: number): number {
    const line = this.#lines[index]!;
    const section = this.#section();
    const begins = line.text.trimStart()[0];
    const name = begins === "#" ? this.#headingOf(line) : undefined;
    if (name !== undefined) this.#begin(name, line);
    else if (begins === "-" && RULE.test(line.text) && this.#endsModel(index)) this.#open(line.to);
    else if (section && begins === "`" && this.#opensFence(index, section)) {
      // What is fenced in a text is an example, whatever it looks like.
      const last = this.#fence(index + 1);
      section.lines.push(...this.#lines.slice(index, last + 1));
      return last;
    } else (section?.lines ?? this.#model().header).push(line);
    return index;
  }

  #opensFence(index: number, { name }: OpenSection): boolean {
    return !hasStatements(name) && FENCE.test(this.#lines[index]!.text) && this.#fence(index + 1) !== -1;
  }

  #model(): OpenModel {
    return this.#models.at(-1)!;
  }

  #section(): OpenSection | undefined {
    return this.#model().sections.at(-1);
  }

  #open(from: number): void {
    if (this.#models.length >= LIMITS.models) {
      if (!this.#overflow) this.#tooMany(from);
      this.#overflow = true;
      this.#models.pop();
    }
    this.#models.push({ header: [], sections: [], names: new Set(), from });
  }

  #tooMany(from: number): void {
    this.#reporter.report({
      code: "E008",
      span: { from, to: from },
      message: `The file has more than ${LIMITS.models} models; of those beyond, only the last one is read.`,
      mend: "Split the file.",
    });
  }

  #begin(name: string, line: Line): void {
    const isSecond = name === "GNNSection" && this.#model().names.has(name);
    if (isSecond) {
      this.#reporter.report({
        code: "W004",
        span: line,
        message: "A second GNNSection begins another model.",
        mend: "Put a line --- in front of it.",
      });
      this.#open(line.from);
    }
    const model = this.#model();
    model.sections.push({ name, heading: { from: line.from, to: line.to }, lines: [] });
    model.names.add(name);
  }

  /** Whether the rule in that line stands between two models, and is no ornament. */
  #endsModel(index: number): boolean {
    const model = this.#model();
    const follower = this.#follower(index + 1);
    if (model.sections.length === 0 || follower === -1) return false;
    const name = plainHeading(this.#lines[follower]!.text);
    if (name === undefined) return false;
    const isWhole = model.names.has("StateSpaceBlock") || model.sections.length >= ENOUGH_SECTIONS;
    return model.names.has(name) || (name === "GNNSection" && isWhole);
  }

  /** The section that a line begins, if it is a heading. */
  #headingOf(line: Line): string | undefined {
    const words = HEADING.exec(line.text)?.[1]?.trim();
    if (words === undefined || words === "") return undefined;
    if (isSectionName(words)) return words;
    const meant = sectionMeantBy(words);
    if (meant !== undefined) {
      this.#remark(line, `The heading is written ${quoted(words)} and read as ${meant}.`, `Write ## ${meant}.`);
      return meant;
    }
    const near = this.#reporter.isFull ? undefined : nearestSection(words);
    if (!/\s/.test(words)) {
      this.#unknown(line, words, near);
      return words;
    }
    this.#remark(
      line,
      `${quoted(words)} names no section, so the line is read as a comment.`,
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
        message: `${quoted(name)} is not one of GNN's own sections; its lines are kept as text.`,
      });
  }

  #remark(line: Line, message: string, mend: string): void {
    this.#reporter.report({ code: "W005", span: line, message, mend });
  }
}

function quoted(words: string): string {
  return JSON.stringify(words.length > 60 ? `${words.slice(0, 60)}…` : words);
}

function plainHeading(text: string): string | undefined {
  const words = HEADING.exec(text)?.[1]?.trim();
  return words === undefined || words === "" ? undefined : (sectionMeantBy(words) ?? words);
}

/** Neither empty nor a comment. */
function isSignificant(text: string): boolean {
  const trimmed = text.trimStart();
  return trimmed !== "" && (!trimmed.startsWith("#") || HEADING.test(trimmed));
}

/** For each line, the index of the first one from there on that fits, or -1. One more entry than lines. */
function nextLines(lines: readonly Line[], fits: (line: Line) => boolean): Int32Array {
  const next = new Int32Array(lines.length + 1).fill(-1);
  for (let index = lines.length - 1; index >= 0; index -= 1)
    next[index] = fits(lines[index]!) ? index : next[index + 1]!;
  return next;
}
