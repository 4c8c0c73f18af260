import { readConnection } from "./connections.ts";
import type { Reporter } from "./diagnostics.ts";
import { commentOf, LineReader, shown } from "./line-reader.ts";
import type { Assignment, Parameter, Raw, Statement, Value } from "./model.ts";
import type { Profile } from "./profiles.ts";
import type { Line } from "./source.ts";
import { readValue } from "./values.ts";
import { readVariable } from "./variables.ts";

type LineStatement = (line: Line, reporter: Reporter, profile: Profile) => Statement;

const READERS: Readonly<Record<string, LineStatement>> = {
  StateSpaceBlock: readVariable,
  Connections: (line, reporter, profile) => readConnection(line, reporter, profile.plainGrammar),
  Equations: readEquation,
  Time: readTimeEntry,
  ActInfOntologyAnnotation: readMapping,
  ModelParameters: readParameter,
};

/** Reads the lines of a section whose lines are statements. */
export function readStatements(
  name: string,
  lines: readonly Line[],
  { reporter, profile }: { readonly reporter: Reporter; readonly profile: Profile },
): readonly Statement[] {
  const statements: Statement[] = [];
  const values = name === "InitialParameterization" ? new ValueLines(lines, reporter) : undefined;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    const plain = plainStatement(line);
    if (plain) statements.push(plain);
    else if (values) {
      const read = values.read(index);
      statements.push(read.statement);
      index = read.last;
    } else statements.push(READERS[name]!(line, reporter, profile));
  }
  return trimmed(statements);
}

function plainStatement({ text, from, to }: Line): Statement | undefined {
  const words = text.trim();
  if (words === "") return { kind: "blank", span: { from, to } };
  const isComment = words[0] === "#" || (words[0] === "-" && /^---+$/.test(words));
  return isComment ? { kind: "comment", text: words, span: { from, to } } : undefined;
}

/** Without blanks at the ends, and with one where there are several. */
function trimmed(statements: readonly Statement[]): readonly Statement[] {
  const kept = statements.filter(
    (statement, index) => statement.kind !== "blank" || (index > 0 && statements[index - 1]!.kind !== "blank"),
  );
  return kept.at(-1)?.kind === "blank" ? kept.slice(0, -1) : kept;
}

/** Values go over many lines. */
class ValueLines {
  readonly #lines: readonly Line[];
  readonly #reporter: Reporter;

  constructor(lines: readonly Line[], reporter: Reporter) {
    this.#lines = lines;
    this.#reporter = reporter;
  }

  read(index: number): { readonly statement: Assignment | Raw; readonly last: number } {
    const line = this.#lines[index]!;
    const reader = new LineReader(line, this.#reporter);
    const name = reader.takeName();
    const hasValue = name !== undefined && (reader.take("=") || reader.rest.startsWith("{"));
    if (!hasValue) return { statement: this.#notOne(line, reader), last: index };
    if (reader.isAtEnd && reader.comment === undefined && !this.#continues(index))
      return { statement: this.#notOne(line, reader), last: index };
    const end = this.#lines.at(-1)!.to;
    const { value, next } = readValue({ from: reader.offset, to: end }, this.#reporter);
    const last = this.#lineWith(index, next);
    const comment = this.#behind(last, next);
    return {
      statement: {
        kind: "assignment",
        name,
        value,
        span: { from: name.span.from, to: next },
        ...(comment === undefined ? {} : { comment }),
      },
      last,
    };
  }

  /** Whether the value begins in the line below. */
  #continues(index: number): boolean {
    return /^\s*[{([]/.test(this.#lines[index + 1]?.text ?? "");
  }

  #notOne(line: Line, reader: LineReader): Raw {
    this.#reporter.report({
      code: "E007",
      span: reader.span,
      message: `${shown(line.text.trim())} gives no value to a name.`,
      mend: "Write name={(0.5, 0.5)}.",
    });
    return { kind: "raw", text: line.text.trim(), span: reader.span };
  }

  /** A value that ends in front of a line belongs to the line above. */
  #lineWith(first: number, next: number): number {
    let last = first;
    while (last + 1 < this.#lines.length && this.#lines[last + 1]!.from < next) last += 1;
    return last;
  }

  /** The comment in the line in which a value ends. */
  #behind(last: number, next: number): string | undefined {
    const line = this.#lines[last]!;
    const text = this.#reporter.source.text.slice(next, line.to).trim();
    if (text === "" || text === "," || text === ";") return undefined;
    if (text.startsWith("#")) return text;
    const hash = text.indexOf("#");
    const strange = (hash === -1 ? text : text.slice(0, hash)).trim();
    this.#reporter.report({
      code: "E007",
      span: { from: next, to: line.to },
      message: `${shown(strange)} stands behind a whole value, and is left out.`,
      mend: "Put what is meant as a comment behind #.",
    });
    return hash === -1 ? undefined : text.slice(hash);
  }
}

function readEquation(line: Line): Statement {
  // A # without a space in front of it may belong to the formula.
  const hash = line.text.search(/\s#/);
  const text = (hash === -1 ? line.text : line.text.slice(0, hash)).trim();
  const comment = hash === -1 ? {} : { comment: line.text.slice(hash).trim() };
  return { kind: "equation", text, span: { from: line.from, to: line.to }, ...comment };
}

function readTimeEntry(line: Line, reporter: Reporter): Statement {
  const reader = new LineReader(line, reporter);
  const key = reader.takeUntil("=:");
  const hasValue = reader.take("=") || reader.take(":");
  const value = hasValue ? reader.takeRest() : undefined;
  if (value?.text === "")
    reporter.report({ code: "E014", span: reader.span, message: `${shown(key.text)} has no value behind =.` });
  return {
    kind: "time",
    key: key.text,
    ...(value === undefined || value.text === "" ? {} : { value }),
    span: reader.span,
    ...commentOf(reader),
  };
}

function readMapping(line: Line, reporter: Reporter): Statement {
  const reader = new LineReader(line, reporter);
  const name = reader.takeName();
  const term = name && reader.take("=") ? reader.takeRest() : undefined;
  if (name && term && term.text !== "") return { kind: "mapping", name, term, span: reader.span, ...commentOf(reader) };
  return unreadable({ line, reader, reporter }, "Write name=HiddenState.");
}

function readParameter(line: Line, reporter: Reporter): Statement {
  const reader = new LineReader(line, reporter);
  const key = reader.takeUntil(":=");
  if (key.text === "" || !(reader.take(":") || reader.take("=")))
    return unreadable({ line, reader, reporter }, "Write key: value.");
  const { from, to } = reader.restSpan;
  const text = reader.rest;
  return {
    kind: "parameter",
    key,
    value: parameterValue(text, { from, to, reporter }),
    span: reader.span,
    ...commentOf(reader),
  } satisfies Parameter;
}

/** A number, a list, a quoted text, else the words as they stand there. */
function parameterValue(
  text: string,
  { from, to, reporter }: { readonly from: number; readonly to: number; readonly reporter: Reporter },
): Value {
  if (/^[[({]/.test(text) || /^(?:"[^"\\]*"|'[^']*')$/.test(text) || isNumber(text))
    return readValue({ from, to }, reporter).value;
  return { kind: "word", text, at: from };
}

function isNumber(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
}

function unreadable(
  { line, reader, reporter }: { readonly line: Line; readonly reader: LineReader; readonly reporter: Reporter },
  mend: string,
): Raw {
  reporter.report({ code: "W006", span: reader.span, message: `${shown(line.text.trim())} cannot be read.`, mend });
  return { kind: "raw", text: line.text.trim(), span: reader.span };
}
