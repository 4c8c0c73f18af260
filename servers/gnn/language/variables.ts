import type { Reporter } from "./diagnostics.ts";
import { LIMITS } from "./limits.ts";
import { commentOf, LineReader, shown } from "./line-reader.ts";
import type { Dimension, Name, Raw, Variable, Word } from "./model.ts";
import { dimensionOf, toName } from "./names.ts";
import type { Line } from "./source.ts";

interface Parts {
  readonly dimensions: Dimension[];
  type?: Word;
  default?: Word;
  readonly options: { readonly key: string; readonly value: string }[];
}

/** Reads `A[2,3,type=float,default=uniform]  # comment`, or the older `A=[2,3]`. */
export function readVariable(line: Line, reporter: Reporter): Variable | Raw {
  const reader = new LineReader(line, reporter);
  const name = reader.takeName();
  if (!name) {
    reporter.report({
      code: "E006",
      span: reader.span,
      message: `${shown(reader.rest)} does not begin with the name of a variable.`,
      mend: "Write name[2,3,type=float].",
    });
    return { kind: "raw", text: line.text.trim(), span: reader.span };
  }
  reader.take("=");
  const parts: Parts = { dimensions: [], options: [] };
  if (reader.take("[")) readParts(reader, name, { parts, reporter });
  else if (!reader.isAtEnd) unexpected(reader, reporter);
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

function unexpected(reader: LineReader, reporter: Reporter): void {
  const span = reader.restSpan;
  const rest = reader.takeRest().text;
  reporter.report({
    code: "E006",
    span,
    message: `${shown(rest)} belongs to no declaration, and is left out.`,
    mend: "Put what is meant as a comment behind #.",
  });
}

function readParts(
  reader: LineReader,
  name: Name,
  { parts, reporter }: { readonly parts: Parts; readonly reporter: Reporter },
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

/** A dimension or a pair; parentheses of `len(π)` belong to it. */
function takePart(reader: LineReader): Word {
  const part = reader.takeUntil(",](");
  if (!reader.take("(")) return part;
  const inner = reader.takeUntil(")]");
  const isClosed = reader.take(")");
  return toName(`${part.text}(${inner.text}${isClosed ? ")" : ""}`, part.span.from);
}

function readPart(part: Word, parts: Parts, reporter: Reporter): void {
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
  reporter.report({ code: "W007", span, message: `${key} is said twice; this one holds.` });
}
