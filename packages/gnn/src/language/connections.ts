import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import { commentOf, LineReader, mendOfMarkdown, shown, simpleName, spacesEnd } from "./line-reader.ts";
import type { Connection, Name, Raw } from "./model.ts";
import { isPlainName, toName } from "./names.ts";
import type { Line, Span } from "./source.ts";

interface ConnectionEnds {
  readonly names: readonly Name[];
  readonly isGroup: boolean;
}

interface Arrow {
  readonly directed: boolean;
  readonly isPlain: boolean;
}

/**
 * Reads a connection: `a>b`, `(a, b) -> (c, d):label=constraint # comment`. `isStrict` accepts only the published
 * grammar.
 */
export function readConnection(index: number, reporter: Reporter, isStrict: boolean): Connection | Raw {
  const { source } = reporter;
  const simple = isStrict ? undefined : simpleConnection(source.text, source.from(index), source.to(index));
  return simple ?? anyConnection(source.line(index), reporter, isStrict);
}

/** Fast path for the most common lines: `a>b` or `a-b` in ASCII. Takes a tenth of the time of the general reader. */
function simpleConnection(text: string, from: number, to: number): Connection | undefined {
  const start = spacesEnd(text, from, to);
  const source = simpleName(text, start);
  if (source === undefined) return undefined;
  const arrow = spacesEnd(text, start + source.length, to);
  const code = text.charCodeAt(arrow);
  if (code !== GREATER && code !== HYPHEN) return undefined;
  const second = spacesEnd(text, arrow + 1, to);
  const target = simpleName(text, second);
  if (target === undefined || spacesEnd(text, second + target.length, to) < to) return undefined;
  return new PlainConnection(toName(source, start), toName(target, second), code === GREATER);
}

/** An edge between two names. Its lists of one name and its span are created on first access. */
class PlainConnection implements Connection {
  readonly kind = "connection";
  readonly source: Name;
  readonly target: Name;
  readonly directed: boolean;

  constructor(source: Name, target: Name, directed: boolean) {
    this.source = source;
    this.target = target;
    this.directed = directed;
  }

  get sources(): readonly Name[] {
    return [this.source];
  }

  get targets(): readonly Name[] {
    return [this.target];
  }

  get span(): Span {
    return { from: this.source.span.from, to: this.target.span.to };
  }

  toJSON(): Connection {
    const { kind, sources, targets, directed, span } = this;
    return { kind, sources, targets, directed, span };
  }
}

const GREATER = 62;
const HYPHEN = 45;

function anyConnection(line: Line, reporter: Reporter, isStrict: boolean): Connection | Raw {
  const reader = new LineReader(line, reporter);
  const read = readEnds(reader, reporter);
  if (typeof read === "string") return refuse({ line, reader, reporter }, read);
  const { sources, arrow, targets } = read;
  const notes = {
    ...(reader.take(":") ? { label: reader.takeUntil("=").text } : {}),
    ...(reader.take("=") ? { constraint: reader.takeRest().text } : {}),
  };
  const wrong = reader.isAtEnd ? wrongWith(read, notes, isStrict) : afterEdge(reader);
  if (wrong !== undefined) return refuse({ line, reader, reporter }, wrong);
  if (sources.names.length * targets.names.length > LIMITS.edgesOfConnection) return tooMany(line, reader, reporter);
  return {
    kind: "connection",
    sources: sources.names,
    targets: targets.names,
    directed: arrow.directed,
    ...notes,
    span: reader.span,
    ...commentOf(reader),
  };
}

interface Notes {
  readonly label?: string;
  readonly constraint?: string;
}

/** Returns why a parsed connection is invalid, or undefined. */
function wrongWith(read: ReadEnds, notes: Notes, isStrict: boolean): string | undefined {
  if (notes.label === "") return "The label after : is missing.";
  if (notes.constraint === "") return "The constraint after = is missing.";
  const beyond = isStrict ? beyondGrammar(read, notes) : undefined;
  return beyond === undefined ? undefined : `${beyond} is not in the grammar of GNN 1.1.`;
}

interface ReadEnds {
  readonly sources: ConnectionEnds;
  readonly arrow: Arrow;
  readonly targets: ConnectionEnds;
}

/** Returns the two ends and the arrow, or an error message. */
function readEnds(reader: LineReader, reporter: Reporter): ReadEnds | string {
  const sources = takeEnds(reader, reporter);
  if (typeof sources === "string") return sources;
  const arrow = takeArrow(reader);
  if (!arrow)
    return reader.isAtEnd ? "The connection has only one end." : `${shown(reader.rest)} does not begin with > or -.`;
  const targets = takeEnds(reader, reporter);
  return typeof targets === "string" ? targets : { sources, arrow, targets };
}

/** Maximum number of names in a group that are compared with one another. */
const LOOKED_THROUGH = 100;

function takeEnds(reader: LineReader, reporter: Reporter): ConnectionEnds | string {
  if (!reader.take("(")) {
    const name = reader.takeName();
    if (name) return { names: [name], isGroup: false };
    return reader.isAtEnd
      ? "A variable name is missing at the end."
      : `${shown(reader.rest)} does not begin with a name.`;
  }
  const names: Name[] = [];
  while (!reader.take(")")) {
    const name = reader.takeName();
    if (!name) return wrongInGroup(reader);
    if (names.length < LOOKED_THROUGH && names.some(({ text }) => text === name.text))
      reporter.report({ code: "W007", span: name.span, message: `${name.text} occurs twice in the group.` });
    names.push(name);
    if (!reader.take(",") && !reader.rest.startsWith(")")) return wrongInGroup(reader);
  }
  return names.length === 0 ? "A group has no names." : { names, isGroup: true };
}

function wrongInGroup(reader: LineReader): string {
  return reader.isAtEnd ? "A ( is never closed." : `${shown(reader.rest)} is not a name in a group.`;
}

/** Arrows, the longest first. */
const ARROWS: readonly (readonly [string, Arrow])[] = [
  ["->", { directed: true, isPlain: false }],
  ["→", { directed: true, isPlain: false }],
  [">", { directed: true, isPlain: true }],
  ["-", { directed: false, isPlain: true }],
  ["–", { directed: false, isPlain: false }],
];

function takeArrow(reader: LineReader): Arrow | undefined {
  return ARROWS.find(([word]) => reader.take(word))?.[1];
}

function afterEdge(reader: LineReader): string {
  const { rest } = reader;
  return /^(?:->|>|-|→)/.test(rest)
    ? `${shown(rest)} follows a complete connection.`
    : `${shown(rest)} is not part of a connection.`;
}

/** Returns the part of this connection that `strict-v1` does not allow. */
function beyondGrammar({ sources, arrow, targets }: ReadEnds, { label, constraint }: Notes): string | undefined {
  if (sources.isGroup || targets.isGroup) return "A group in parentheses";
  if (!arrow.isPlain) return "An arrow other than > and -";
  const strange = [...sources.names, ...targets.names].find(({ text }) => !isPlainName(text));
  if (strange) return `The name ${strange.text}`;
  if (label !== undefined && !/^[A-Za-z0-9_]+$/.test(label)) return `The label ${shown(label)}`;
  return constraint === undefined ? undefined : "A constraint";
}

interface StatementContext {
  readonly line: Line;
  readonly reader: LineReader;
  readonly reporter: Reporter;
}

function refuse({ line, reader, reporter }: StatementContext, message: string): Raw {
  const mend = mendOfMarkdown(line.text) ?? "Write one connection per line: a>b, a-b, or (a,b)>c.";
  reporter.report({ code: "E005", span: reader.span, message, mend });
  return { kind: "raw", text: line.text.trim(), span: reader.span };
}

function tooMany(line: Line, reader: LineReader, reporter: Reporter): Raw {
  reporter.report({
    code: "E008",
    span: reader.span,
    message: `The groups expand to more than ${LIMITS.edgesOfConnection} edges.`,
    mend: "Write smaller groups.",
  });
  return { kind: "raw", text: line.text.trim(), span: reader.span };
}
