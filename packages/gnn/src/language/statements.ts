import { readConnection } from "./connections.ts";
import type { Reporter } from "./diagnostics.ts";
import { commentOf, LineReader, shown, simpleName, spacesEnd } from "./line-reader.ts";
import type { Assignment, Name, Parameter, Raw, Statement, Value } from "./model.ts";
import { toName } from "./names.ts";
import type { Profile } from "./profiles.ts";
import { NOTHING, type Line, type LineRange, type Source } from "./source.ts";
import { readValue, ValueReader } from "./values.ts";
import { readVariable } from "./variables.ts";

interface ReaderContext {
  readonly reporter: Reporter;
  readonly profile: Profile;
}

type LineStatement = (index: number, reading: ReaderContext) => Statement;

const READERS: Readonly<Record<string, LineStatement>> = {
  StateSpaceBlock: (index, { reporter }) => readVariable(index, reporter),
  Connections: (index, { reporter, profile }) => readConnection(index, reporter, profile.plainGrammar),
  Equations: (index, { reporter }) => readEquation(reporter.source.line(index)),
  Time: (index, { reporter }) => readTimeEntry(reporter.source.line(index), reporter),
  ActInfOntologyAnnotation: (index, { reporter }) => readMapping(reporter.source.line(index), reporter),
  ModelParameters: (index, { reporter }) => readParameter(reporter.source.line(index), reporter),
};

/** Reads the lines of a statement section. Blank lines at the ends are dropped, and repeated ones become one. */
export function readStatements(name: string, { first, end }: LineRange, reading: ReaderContext): readonly Statement[] {
  const { source } = reading.reporter;
  const statements: Statement[] = [];
  const values = name === "InitialParameterization" ? new ValueLines(end, reading.reporter) : undefined;
  const read = READERS[name]!;
  let isBlank = true;
  for (let index = first; index < end; index += 1) {
    const code = source.firstCode(index);
    const plain = code === HASH || code === HYPHEN ? commentIn(source.line(index)) : undefined;
    if (code === NOTHING) {
      if (!isBlank) statements.push({ kind: "blank", span: { from: source.from(index), to: source.to(index) } });
    } else if (plain) statements.push(plain);
    else if (values) {
      statements.push(values.read(index));
      index = values.last;
    } else statements.push(read(index, reading));
    isBlank = code === NOTHING;
  }
  if (statements.at(-1)?.kind === "blank") statements.pop();
  return statements;
}

const HASH = 35;
const HYPHEN = 45;
const EQUALS = 61;
const BRACE = 123;

/** Returns a comment if the line begins with `#` or is a decoration of hyphens. */
function commentIn({ text, from, to }: Line): Statement | undefined {
  const words = text.trim();
  return words[0] === "#" || /^---+$/.test(words) ? { kind: "comment", text: words, span: { from, to } } : undefined;
}

/** Reads values, which may span several lines. */
class ValueLines {
  /** Last line of the latest statement. */
  last = 0;
  readonly #end: number;
  readonly #source: Source;
  readonly #reporter: Reporter;
  readonly #values: ValueReader;

  constructor(end: number, reporter: Reporter) {
    this.#end = end;
    this.#source = reporter.source;
    this.#reporter = reporter;
    this.#values = new ValueReader(this.#source.to(end - 1), reporter);
  }

  read(index: number): Assignment | Raw {
    return this.#simple(index) ?? this.#any(index);
  }

  /** Reads a value after `name={`, the most common form. */
  #simple(index: number): Assignment | undefined {
    const { text } = this.#source;
    const from = spacesEnd(text, this.#source.from(index), this.#source.to(index));
    const name = simpleName(text, from);
    if (name === undefined) return undefined;
    const equals = from + name.length;
    if (text.charCodeAt(equals) !== EQUALS || text.charCodeAt(equals + 1) !== BRACE) return undefined;
    return this.#assignment(index, toName(name, from), equals + 1);
  }

  #any(index: number): Assignment | Raw {
    this.last = index;
    const line = this.#source.line(index);
    const reader = new LineReader(line, this.#reporter);
    const name = reader.takeName();
    const hasValue = name !== undefined && (reader.take("=") || reader.rest.startsWith("{"));
    if (!hasValue) return this.#notOne(line, reader);
    if (reader.isAtEnd && reader.comment === undefined && !this.#continues(index)) return this.#notOne(line, reader);
    return this.#assignment(index, name, reader.offset);
  }

  /** Reads the value that begins at an offset of a line. */
  #assignment(index: number, name: Name, offset: number): Assignment {
    const { value, next } = this.#values.read(offset);
    this.last = this.#lineWith(index, next);
    const span = { from: name.span.from, to: next };
    const comment = next === this.#source.to(this.last) ? undefined : this.#behind(next);
    if (comment === undefined) return { kind: "assignment", name, value, span };
    return { kind: "assignment", name, value, span, comment };
  }

  /** Returns whether the value starts in the next line. */
  #continues(index: number): boolean {
    return index + 1 < this.#end && /^\s*[{([]/.test(this.#source.line(index + 1).text);
  }

  #notOne(line: Line, reader: LineReader): Raw {
    this.#reporter.report({
      code: "E007",
      span: reader.span,
      message: `${shown(line.text.trim())} does not assign a value to a name.`,
      mend: "Write name={(0.5, 0.5)}.",
    });
    return { kind: "raw", text: line.text.trim(), span: reader.span };
  }

  /** Returns the line in which a value ended. A value that ends at the start of a line belongs to the line above. */
  #lineWith(first: number, next: number): number {
    let last = first;
    while (last + 1 < this.#end && this.#source.from(last + 1) < next) last += 1;
    return last;
  }

  /** Returns the comment in the line in which a value ends. */
  #behind(next: number): string | undefined {
    const to = this.#source.to(this.last);
    const text = this.#source.text.slice(next, to).trim();
    if (text === "" || text === "," || text === ";") return undefined;
    if (text.startsWith("#")) return text;
    const hash = text.indexOf("#");
    const strange = (hash === -1 ? text : text.slice(0, hash)).trim();
    this.#reporter.report({
      code: "E007",
      span: { from: next, to },
      message: `${shown(strange)} follows a complete value and is ignored.`,
      mend: "Write comments after #.",
    });
    return hash === -1 ? undefined : text.slice(hash);
  }
}

function readEquation(line: Line): Statement {
  // A # without a space before it may belong to the formula.
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
    reporter.report({ code: "E014", span: reader.span, message: `${shown(key.text)} has no value after =.` });
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

/** Returns a number, a list or a quoted text; otherwise the words as written. */
function parameterValue(
  text: string,
  { from, to, reporter }: { readonly from: number; readonly to: number; readonly reporter: Reporter },
): Value {
  if (/^[[({]/.test(text) || /^(?:"[^"\\]*"|'[^']*')$/.test(text) || isNumber(text))
    return readValue({ from, to }, reporter).value;
  return { kind: "word", text, at: from };
}

function isNumber(text: string): boolean {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
}

function unreadable(
  { line, reader, reporter }: { readonly line: Line; readonly reader: LineReader; readonly reporter: Reporter },
  mend: string,
): Raw {
  reporter.report({ code: "W006", span: reader.span, message: `${shown(line.text.trim())} cannot be read.`, mend });
  return { kind: "raw", text: line.text.trim(), span: reader.span };
}
