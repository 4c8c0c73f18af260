import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import { commentOf, LineReader, mendOfMarkdown, shown, simpleName, spacesEnd } from "./line-reader.ts";
import type { Dimension, Name, Raw, Variable, Word } from "./model.ts";
import { dimensionOf, toName } from "./names.ts";
import type { Line } from "./source.ts";

interface VariableParts {
  readonly dimensions: Dimension[];
  type?: Word;
  default?: Word;
  readonly options: { readonly key: string; readonly value: string }[];
}

/** Reads a declaration: `A[2,3,type=float,default=uniform] # comment`, or in the older form `A=[2,3]`. */
export function readVariable(index: number, reporter: Reporter): Variable | Raw {
  const { source } = reporter;
  const simple = simpleVariable(source.text, source.from(index), source.to(index));
  return simple ?? anyVariable(source.line(index), reporter);
}

/** Fast path for the most common lines: `x[2,3]` or `x[2,3,type=float]` in ASCII, with or without a comment. */
function simpleVariable(text: string, from: number, to: number): Variable | undefined {
  const start = spacesEnd(text, from, to);
  const name = simpleName(text, start);
  if (name === undefined || text.charCodeAt(start + name.length) !== OPENING) return undefined;
  const dimensions = simpleDimensions(text, start + name.length + 1);
  if (dimensions === undefined) return undefined;
  const type = simpleType(text, dimensions.at(-1)!.span.to);
  const end = (type ?? dimensions.at(-1)!).span.to;
  const comment = simpleComment(text, end, to);
  if (comment === undefined) return undefined;
  return {
    kind: "variable",
    name: toName(name, start),
    dimensions,
    options: NO_OPTIONS,
    ...(type ? { type } : {}),
    span: { from: start, to: end + 1 },
    ...(comment === "" ? {} : { comment }),
  };
}

/** Returns the comment after the closing bracket, or "" if nothing follows it; undefined for anything else. */
function simpleComment(text: string, end: number, to: number): string | undefined {
  if (text.charCodeAt(end) !== CLOSING) return undefined;
  const behind = spacesEnd(text, end + 1, to);
  if (behind === to) return "";
  return text.charCodeAt(behind) === HASH ? text.slice(behind, to).trimEnd() : undefined;
}

function simpleType(text: string, at: number): Word | undefined {
  const type = text.startsWith(TYPE, at) ? simpleName(text, at + TYPE.length) : undefined;
  return type === undefined ? undefined : toName(type, at + TYPE.length);
}

const OPENING = 91;
const CLOSING = 93;
const COMMA = 44;
const HASH = 35;
const TYPE = ",type=";
const NO_OPTIONS: Variable["options"] = [];
/** Maximum number of digits that cannot exceed a size limit. */
const SHORT = 9;

/** Reads numeric lengths; undefined if one is not a number. */
function simpleDimensions(text: string, from: number): readonly Dimension[] | undefined {
  const dimensions: Dimension[] = [];
  for (let at = from; dimensions.length < LIMITS.dimensions; at += 1) {
    const start = at;
    let size = 0;
    for (let digit = digitAt(text, at); digit >= 0 && at - start < SHORT; digit = digitAt(text, at)) {
      size = 10 * size + digit;
      at += 1;
    }
    if (at === start) return undefined;
    dimensions.push({ kind: "size", size, span: { from: start, to: at } });
    // A comma that is not followed by a digit is left to the general reader.
    if (text.charCodeAt(at) !== COMMA || digitAt(text, at + 1) < 0) return dimensions.slice();
  }
  return undefined;
}

/** Returns the digit at a position, or -1. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57 ? code - 48 : -1;
}

function anyVariable(line: Line, reporter: Reporter): Variable | Raw {
  const reader = new LineReader(line, reporter);
  const name = reader.takeName();
  if (!name) {
    reporter.report({
      code: "E006",
      span: reader.span,
      message: `${shown(reader.rest)} does not begin with the name of a variable.`,
      mend: mendOfMarkdown(line.text) ?? "Write name[2,3,type=float].",
    });
    return { kind: "raw", text: line.text.trim(), span: reader.span };
  }
  reader.take("=");
  const parts: VariableParts = { dimensions: [], options: [] };
  if (reader.take("[")) readParts(reader, name, { parts, reporter });
  else if (!reader.isAtEnd) unexpected(reader, reporter, name);
  if (parts.dimensions.length === 0)
    reporter.report({
      code: "E012",
      span: name.span,
      message: `${name.text} has no dimensions.`,
      mend: `Write ${name.text}[1] for a single number.`,
    });
  if (!reader.isAtEnd) unexpected(reader, reporter);
  return { kind: "variable", name, ...parts, span: reader.span, ...commentOf(reader) };
}

function unexpected(reader: LineReader, reporter: Reporter, name?: Name): void {
  const span = reader.restSpan;
  const rest = reader.takeRest().text;
  const inBrackets = name && /^[({]([^(){}]+)[)}]$/.exec(rest)?.[1];
  reporter.report({
    code: "E006",
    span,
    message: `${shown(rest)} is not part of the declaration and is ignored.`,
    mend: inBrackets === undefined ? "Write comments after #." : `Write ${name!.text}[${inBrackets}].`,
  });
}

function readParts(
  reader: LineReader,
  name: Name,
  { parts, reporter }: { readonly parts: VariableParts; readonly reporter: Reporter },
): void {
  while (!reader.isAtEnd && !reader.take("]")) {
    const part = takePart(reader);
    if (part.text !== "") readPart(part, parts, reporter);
    if (!reader.take(",") && reader.isAtEnd)
      reporter.report({
        code: "E006",
        span: { from: name.span.from, to: reader.offset },
        message: `The [ of ${name.text} is never closed.`,
        mend: "Close it with ].",
      });
  }
  if (parts.dimensions.length > LIMITS.dimensions)
    reporter.report({
      code: "E008",
      span: reader.span,
      message: `${name.text} has ${parts.dimensions.length} dimensions; tensors have at most ${LIMITS.dimensions}.`,
    });
}

/** Reads a dimension or a `key=value` pair, which may contain the parentheses of `len(π)`. */
function takePart(reader: LineReader): Word {
  const part = reader.takeUntil(",](");
  if (!reader.take("(")) return part;
  const inner = reader.takeUntil(")]");
  const isClosed = reader.take(")");
  return toName(`${part.text}(${inner.text}${isClosed ? ")" : ""}`, part.span.from);
}

function readPart(part: Word, parts: VariableParts, reporter: Reporter): void {
  const equals = part.text.indexOf("=");
  if (equals === -1) {
    parts.dimensions.push(dimensionOf(part.text, part.span.from));
    return;
  }
  const key = part.text.slice(0, equals).trim();
  const text = part.text.slice(equals + 1).trim();
  const value = toName(text, part.span.to - text.length);
  if (key === "type" || key === "default") {
    if (parts[key]) twice(key, part, reporter);
    if (text !== "") parts[key] = value;
    else
      reporter.report({ code: "E006", span: part.span, message: `${key} has no value.`, mend: `Leave ${key}= out.` });
  } else parts.options.push({ key, value: text });
}

function twice(key: string, { span }: Word, reporter: Reporter): void {
  reporter.report({ code: "W007", span, message: `${key} is stated twice; the later statement applies.` });
}
