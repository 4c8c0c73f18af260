import { fromCsv, isCsv } from "./csv.ts";
import { Reporter, type Diagnostic } from "./diagnostics.ts";
import { modelsInFences } from "./fences.ts";
import { readFrontMatter } from "./front-matter.ts";
import { LIMITS } from "./limits.ts";
import type { GnnFile, Model, Section } from "./model.ts";
import { PROFILES, type Profile, type ProfileName } from "./profiles.ts";
import { hasStatements } from "./section-names.ts";
import { Source, type LineRange } from "./source.ts";
import { splitModels, type ModelLines, type SectionLines } from "./split.ts";
import { readStatements } from "./statements.ts";

export interface ParseOptions {
  /** Rules for valid files. @default "default" */
  readonly profile?: ProfileName;
}

/** Result of parsing: the readable parts of the file, and the diagnostics. */
export interface ParseResult {
  readonly file: GnnFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** A parsed text, with the reporter to which checks add diagnostics. */
export interface ParsedText {
  readonly file: GnnFile;
  readonly profile: Profile;
  readonly reporter: Reporter;
}

/**
 * Parses a text in any form of GNN. Never throws. The time is linear in the length of the text.
 * @example
 * ```ts
 * import { parseGnn } from "@toolyard/gnn";
 *
 * const { file, diagnostics } = parseGnn("## Connections\ns>o\n");
 * console.log(file.models.length, diagnostics.length);
 * ```
 */
export function parseGnn(text: string, options: ParseOptions = {}): ParseResult {
  const { file, reporter } = readGnn(text, options);
  return { file, diagnostics: reporter.diagnostics() };
}

/** Like `parseGnn`, for callers that continue with checks. */
export function readGnn(text: string, { profile: name = "default" }: ParseOptions = {}): ParsedText {
  const profile = PROFILES[name];
  if (text.length > LIMITS.characters) return tooLarge(text.length, profile);
  const whole = text.replace(/^\uFEFF/, "");
  const fenced = modelsInFences(whole);
  const original = new Source(fenced ?? whole);
  const isRows = isCsv(original);
  const source = isRows ? fromCsv(original) : original;
  const reporter = new Reporter(source);
  const { frontMatter, next } = isRows ? { next: 0 } : readFrontMatter(source);
  const models = splitModels(source, next, reporter).map((lines) => toModel(lines, reporter, profile));
  return {
    file: {
      form: isRows ? "csv" : "markdown",
      ...(frontMatter ? { frontMatter } : {}),
      models,
      ...(fenced === undefined ? {} : { isFenced: true }),
    },
    profile,
    reporter,
  };
}

function tooLarge(length: number, profile: Profile): ParsedText {
  const reporter = new Reporter(new Source(""));
  reporter.report({
    code: "E008",
    span: { from: 0, to: 0 },
    message: `The text has ${length} characters; at most ${LIMITS.characters} are read.`,
    mend: "Split the file.",
  });
  return { file: { form: "markdown", models: [] }, profile, reporter };
}

function toModel({ header, sections, span }: ModelLines, reporter: Reporter, profile: Profile): Model {
  return {
    header: trimmedLines(reporter.source, header),
    sections: sections.map((section) => toSection(section, reporter, profile)),
    span,
  };
}

function toSection(section: SectionLines, reporter: Reporter, profile: Profile): Section {
  const { name, heading, first, end } = section;
  const { source } = reporter;
  const span = { from: heading.from, to: end > first ? source.to(end - 1) : heading.to };
  if (hasStatements(name)) {
    const statements = readStatements(name, section, { reporter, profile });
    return { kind: "statements", name, statements, span, heading };
  }
  return { kind: "text", name, text: trimmedLines(source, section).join("\n"), span, heading };
}

function trimmedLines(source: Source, range: LineRange): string[] {
  const texts = source.lines(range).map(({ text }) => text.trimEnd());
  const first = texts.findIndex((text) => text !== "");
  return first === -1 ? [] : texts.slice(first, texts.findLastIndex((text) => text !== "") + 1);
}
