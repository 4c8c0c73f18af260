import { toCell } from "./csv.ts";
import type { Connection, Dimension, GnnFile, Model, Section, Statement, Variable, Word } from "./model.ts";
import { printValue, printWhole } from "./print-values.ts";

export interface PrintOptions {
  /** Form of the output. @default the file's own form */
  readonly form?: "markdown" | "csv";
}

/**
 * Prints a file in the canonical layout. The output parses to the same models, and printing it again changes nothing.
 */
export function printGnn(file: GnnFile, { form = file.form }: PrintOptions = {}): string {
  if (form === "csv") return file.models.map(printRows).join("\n");
  const front = file.frontMatter ? `---\n${file.frontMatter.lines.map((line) => `${line}\n`).join("")}---\n\n` : "";
  return front + file.models.map(printModel).join("\n---\n\n");
}

/** Prints one model as Markdown. */
export function printModel({ header, sections }: Model): string {
  const blocks = [
    ...(header.length === 0 ? [] : [header.join("\n")]),
    ...sections.map((section) => [`## ${section.name}`, ...bodyOf(section)].join("\n")),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** Prints rows in CSV form. Lines above the first section stay comments. */
function printRows({ header, sections }: Model): string {
  const lines = header.map((line) => (line.trimStart().startsWith("#") || line === "" ? line : `# ${line}`));
  const rows = sections.map((section) => `${section.name},${toCell(bodyOf(section).join("\n"))}`);
  return `${[...lines, ...rows].join("\n")}\n`;
}

function bodyOf(section: Section): readonly string[] {
  if (section.kind === "text") return section.text === "" ? [] : [section.text];
  return alignComments(section.statements.map(printStatement));
}

interface PrintedStatement {
  /** Text without its comment. If it has several lines, the comment is printed after the last line. */
  readonly text: string;
  readonly comment?: string;
}

function printStatement(statement: Statement): PrintedStatement {
  if (statement.kind === "blank") return { text: "" };
  if (statement.kind === "comment" || statement.kind === "raw") return { text: statement.text };
  const text = textOfStatement(statement);
  return statement.comment === undefined ? { text } : { text, comment: statement.comment };
}

function textOfStatement(statement: Exclude<Statement, { kind: "blank" | "comment" | "raw" }>): string {
  switch (statement.kind) {
    case "variable":
      return printVariable(statement);
    case "connection":
      return printConnection(statement);
    case "assignment":
      return `${statement.name.text}=${printWhole(statement.value)}`;
    case "equation":
      return statement.text;
    case "time":
      return statement.value ? `${statement.key}=${statement.value.text}` : statement.key;
    case "mapping":
      return `${statement.name.text}=${statement.term.text}`;
    case "parameter":
      return `${statement.key.text}: ${printValue(statement.value, "[")}`;
  }
}

export function printVariable({ name, dimensions, type, default: start, options }: Variable): string {
  const parts = [
    ...dimensions.map(printDimension),
    ...pair("type", type),
    ...pair("default", start),
    ...options.map(({ key, value }) => `${key}=${value}`),
  ];
  return parts.length === 0 ? name.text : `${name.text}[${parts.join(",")}]`;
}

function pair(key: string, value: Word | undefined): string[] {
  return value === undefined ? [] : [`${key}=${value.text}`];
}

export function printDimension(dimension: Dimension): string {
  switch (dimension.kind) {
    case "size":
      return String(dimension.size);
    case "reference":
      return dimension.name;
    case "length":
      return `len(${dimension.name})`;
    case "unknown":
      return dimension.text;
  }
}

export function printConnection({ sources, targets, directed, label, constraint }: Connection): string {
  const edge = `${printEnds(sources)}${directed ? ">" : "-"}${printEnds(targets)}`;
  return `${edge}${label === undefined ? "" : `:${label}`}${constraint === undefined ? "" : `=${constraint}`}`;
}

function printEnds(names: readonly Word[]): string {
  return names.length === 1 ? names[0]!.text : `(${names.map(({ text }) => text).join(",")})`;
}

/** Maximum column at which comments of neighbouring lines are aligned. Much longer lines are not aligned. */
const MAX_ALIGNED = 48;

function alignComments(statements: readonly PrintedStatement[]): readonly string[] {
  const lines: string[] = [];
  for (let first = 0; first < statements.length;) {
    let next = first + 1;
    if (isAligned(statements[first]!)) while (next < statements.length && isAligned(statements[next]!)) next += 1;
    const run = statements.slice(first, next);
    const width = Math.max(...widthsOf(run), 0);
    for (const { text, comment } of run) lines.push(comment === undefined ? text : `${text.padEnd(width)}  ${comment}`);
    first = next;
  }
  return lines;
}

function isAligned({ text, comment }: PrintedStatement): boolean {
  return text !== "" && (comment !== undefined || !text.startsWith("#")) && !text.includes("\n");
}

/** Returns the widths in chunks, because a run may have more lines than a function call can have arguments. */
function widthsOf(run: readonly PrintedStatement[]): readonly number[] {
  let width = 0;
  if (run.length > 1 || isAligned(run[0]!))
    for (const { text, comment } of run)
      if (comment !== undefined && isAligned({ text, comment }) && text.length <= MAX_ALIGNED)
        width = Math.max(width, text.length);
  return [width];
}
