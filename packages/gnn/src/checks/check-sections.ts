import { isSectionName, type SectionName } from "../language/section-names.ts";
import type { Section } from "../language/model.ts";
import type { Source, Span } from "../language/source.ts";
import { textSections } from "../language/view.ts";
import type { CheckContext } from "./context.ts";

/** Sections that must not be empty. */
const NEVER_EMPTY = new Set<string>(["GNNSection", "GNNVersionAndFlags", "ModelName", "StateSpaceBlock"]);
const KNOWN_VERSIONS = new Set(["1", "1.0", "1.1"]);

/** Reports missing and repeated sections, and checks identifier and version. */
export function checkSections(context: CheckContext): void {
  const { view, profile } = context;
  const { sections } = view.model;
  if (!sections.some(({ name }) => isSectionName(name))) return noGnn(context);
  for (const name of profile.required) checkRequired(context, name);
  const seen = new Set<string>();
  for (const section of sections) {
    if (seen.has(section.name)) twice(context, section);
    seen.add(section.name);
  }
  checkIdentifier(context);
  checkVersion(context);
}

function noGnn({ view, reporter }: CheckContext): void {
  reporter.report({
    code: "E013",
    span: { from: view.model.span.from, to: view.model.span.from },
    message: "The text contains no GNN section, such as ## StateSpaceBlock.",
  });
}

function checkRequired({ view, profile, reporter }: CheckContext, name: SectionName): void {
  const section = view.model.sections.find((one) => one.name === name);
  if (!section) {
    const [first] = view.model.sections;
    const who = profile.name === "default" ? "" : ` in the profile ${profile.name}`;
    const message = `The section ${name} is missing; it is required${who}.`;
    const near = lineNaming(name, reporter.source, view.model.span);
    const mend = near
      ? `Write ## ${name} in line ${near.line}, which has ${near.hashes} #.`
      : `Add a line ## ${name} and its content.`;
    reporter.report({ code: "E001", span: near?.span ?? first!.heading, message, mend });
  } else if (NEVER_EMPTY.has(name) && isEmpty(section))
    reporter.report({ code: "E001", span: section.heading, message: `The section ${name} is empty.` });
}

/** Returns the first line that contains the section's name after another number of # characters than a heading has. */
function lineNaming(
  name: SectionName,
  source: Source,
  model: Span,
): { line: number; hashes: number; span: Span } | undefined {
  const last = source.lineAt(model.to);
  for (let index = source.lineAt(model.from); index <= last; index += 1) {
    if (source.firstCode(index) !== HASH) continue;
    const { text, from, to } = source.line(index);
    const [, hashes, words] = NAMING.exec(text) ?? [];
    if (words !== name || hashes === "##") continue;
    return { line: source.position(from).line, hashes: hashes!.length, span: { from, to } };
  }
  return undefined;
}

const HASH = 35;
/** Matches a line with # characters and one word. The word must not begin with #, so that the match is unambiguous. */
const NAMING = /^\s*(#+)\s*([^\s#]\S*)\s*$/;

function isEmpty(section: Section): boolean {
  if (section.kind === "statements")
    return !section.statements.some(({ kind }) => kind !== "blank" && kind !== "comment");
  return section.text.split("\n").every((line) => /^\s*(?:#.*)?$/.test(line));
}

function twice({ reporter }: CheckContext, { name, heading }: Section): void {
  const message = `The section ${name} occurs twice; both are read as one section.`;
  reporter.report({ code: "W004", span: heading, message });
}

function checkIdentifier(context: CheckContext): void {
  const { view, profile, reporter } = context;
  const { identifier } = view;
  if (identifier === undefined || !/\s/.test(identifier)) return;
  reporter.report({
    code: "E015",
    ...(profile.name === "strict-v1" ? {} : { severity: "warning" }),
    span: firstLineOf(context, "GNNSection"),
    message: `The identifier ${JSON.stringify(identifier)} contains spaces.`,
    mend: `Write ${identifier.replaceAll(/\s+/g, "")}.`,
  });
}

function checkVersion(context: CheckContext): void {
  const { view, reporter } = context;
  const { version } = view;
  if (version === undefined) return;
  const span = firstLineOf(context, "GNNVersionAndFlags");
  const number = /\bGNN\s+v(\d+(?:\.\d+)?)\b/i.exec(version)?.[1];
  if (number === undefined) {
    const message = `${JSON.stringify(version)} is not a GNN version.`;
    reporter.report({ code: "E009", span, message, mend: "Write GNN v1." });
  } else if (!KNOWN_VERSIONS.has(number)) {
    const message = `GNN v${number} is unknown; the text is read as version 1.1.`;
    reporter.report({ code: "W009", span, message, mend: "Write GNN v1.1." });
  }
}

/** Returns the first line of a text section that is neither empty nor a comment. */
function firstLineOf({ view, reporter }: CheckContext, name: string): Span {
  const { source } = reporter;
  for (const { heading, span } of textSections(view.model, name)) {
    const first = source.lineAt(heading.from) + 1;
    for (let index = first; index < source.lineCount && source.from(index) <= span.to; index += 1) {
      const { text, from } = source.line(index);
      const words = text.trim();
      const lead = text.length - text.trimStart().length;
      if (words !== "" && !words.startsWith("#")) return { from: from + lead, to: from + lead + words.length };
    }
  }
  return view.model.span;
}
