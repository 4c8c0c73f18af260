import type {
  Connection,
  Dimension,
  FrontMatter,
  GnnFile,
  Model,
  Name,
  Section,
  Statement,
  Value,
  Variable,
} from "./model.ts";
import { dimensionOf } from "./names.ts";
import { printDimension } from "./print.ts";
import { numberText } from "./print-values.ts";
import { NOWHERE } from "./source.ts";

/**
 * A value without positions: numbers, words, texts, lists. Numbers that JSON cannot represent are written as `{number:
 * "inf"}`.
 */
export type ValueData =
  | number
  | readonly ValueData[]
  | { readonly number: string }
  | { readonly word: string }
  | { readonly text: string }
  | { readonly entries: readonly { readonly key: string; readonly value: ValueData }[] };

interface CommentField {
  readonly comment?: string;
}

export type StatementData =
  | { readonly kind: "blank" }
  | { readonly kind: "comment" | "raw"; readonly text: string }
  | VariableData
  | ConnectionData
  | (CommentField & { readonly kind: "assignment"; readonly name: string; readonly value: ValueData })
  | (CommentField & { readonly kind: "equation"; readonly text: string })
  | (CommentField & { readonly kind: "time"; readonly key: string; readonly value?: string })
  | (CommentField & { readonly kind: "mapping"; readonly name: string; readonly term: string })
  | (CommentField & { readonly kind: "parameter"; readonly key: string; readonly value: ValueData });

export interface VariableData extends CommentField {
  readonly kind: "variable";
  readonly name: string;
  /** Sizes as numbers; `num_states` or `len(π)` as written. */
  readonly dimensions: readonly (string | number)[];
  readonly type?: string;
  readonly default?: string;
  readonly options: readonly { readonly key: string; readonly value: string }[];
}

export interface ConnectionData extends CommentField {
  readonly kind: "connection";
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly directed: boolean;
  readonly label?: string;
  readonly constraint?: string;
}

export type SectionData =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly statements: readonly StatementData[] };

export interface ModelData {
  readonly header: readonly string[];
  readonly sections: readonly SectionData[];
}

/** A file as plain data without text positions, for JSON and comparisons. */
export interface FileData {
  readonly form: GnnFile["form"];
  readonly frontMatter?: FrontMatter;
  readonly models: readonly ModelData[];
}

export function toData({ form, frontMatter, models }: GnnFile): FileData {
  return { form, ...(frontMatter ? { frontMatter } : {}), models: models.map(toModelData) };
}

export function toModelData({ header, sections }: Model): ModelData {
  return {
    header,
    sections: sections.map((section) =>
      section.kind === "text"
        ? { name: section.name, text: section.text }
        : { name: section.name, statements: section.statements.map(toStatementData) },
    ),
  };
}

function toStatementData(statement: Statement): StatementData {
  switch (statement.kind) {
    case "blank":
      return { kind: "blank" };
    case "comment":
    case "raw":
      return { kind: statement.kind, text: statement.text };
    default:
      return toRemarkedData(statement);
  }
}

function toRemarkedData(statement: Exclude<Statement, { kind: "blank" | "comment" | "raw" }>): StatementData {
  const comment = statement.comment === undefined ? {} : { comment: statement.comment };
  switch (statement.kind) {
    case "variable":
      return toVariableData(statement, comment);
    case "connection":
      return toConnectionData(statement, comment);
    case "assignment":
      return { kind: "assignment", name: statement.name.text, value: toValueData(statement.value), ...comment };
    case "equation":
      return { kind: "equation", text: statement.text, ...comment };
    case "time":
      return {
        kind: "time",
        key: statement.key,
        ...(statement.value ? { value: statement.value.text } : {}),
        ...comment,
      };
    case "mapping":
      return { kind: "mapping", name: statement.name.text, term: statement.term.text, ...comment };
    case "parameter":
      return { kind: "parameter", key: statement.key.text, value: toValueData(statement.value), ...comment };
  }
}

function toVariableData(
  { name, dimensions, type, default: start, options }: Variable,
  comment: CommentField,
): VariableData {
  return {
    kind: "variable",
    name: name.text,
    dimensions: dimensions.map(toDimensionData),
    ...(type ? { type: type.text } : {}),
    ...(start ? { default: start.text } : {}),
    options,
    ...comment,
  };
}

function toConnectionData(connection: Connection, comment: CommentField): ConnectionData {
  const { sources, targets, directed, label, constraint } = connection;
  return {
    kind: "connection",
    sources: sources.map(({ text }) => text),
    targets: targets.map(({ text }) => text),
    directed,
    ...(label === undefined ? {} : { label }),
    ...(constraint === undefined ? {} : { constraint }),
    ...comment,
  };
}

function toDimensionData(dimension: Dimension): string | number {
  return dimension.kind === "size" ? dimension.size : printDimension(dimension);
}

export function toValueData(value: Value): ValueData {
  switch (value.kind) {
    case "number":
      return Number.isFinite(value.value) && !Object.is(value.value, -0)
        ? value.value
        : { number: numberText(value.value) };
    case "word":
      return { word: value.text };
    case "string":
      return { text: value.text };
    case "entry":
      return { entries: [{ key: value.key, value: toValueData(value.value) }] };
    case "group":
      return value.items.map(toValueData);
  }
}

/** Restores a file from the data of `toData`. */
export function fromData({ form, frontMatter, models }: FileData): GnnFile {
  return { form, ...(frontMatter ? { frontMatter } : {}), models: models.map(fromModelData) };
}

export function fromModelData({ header, sections }: ModelData): Model {
  return { header, sections: sections.map(fromSectionData), span: NOWHERE };
}

function fromSectionData(section: SectionData): Section {
  const places = { span: NOWHERE, heading: NOWHERE };
  if ("text" in section) return { kind: "text", name: section.name, text: section.text, ...places };
  return { kind: "statements", name: section.name, statements: section.statements.map(fromStatementData), ...places };
}

function fromStatementData(data: StatementData): Statement {
  const span = NOWHERE;
  switch (data.kind) {
    case "variable":
      return fromVariableData(data);
    case "connection":
      return { ...data, sources: data.sources.map(named), targets: data.targets.map(named), span };
    case "assignment":
      return { ...data, name: named(data.name), value: fromValueData(data.value), span };
    case "mapping":
      return { ...data, name: named(data.name), term: named(data.term), span };
    case "parameter":
      return { ...data, key: named(data.key), value: fromValueData(data.value), span };
    case "time": {
      const { value, ...rest } = data;
      return { ...rest, ...(value === undefined ? {} : { value: named(value) }), span };
    }
    default:
      return { ...data, span };
  }
}

function fromVariableData({ type, default: start, ...data }: VariableData): Statement {
  return {
    ...data,
    name: named(data.name),
    dimensions: data.dimensions.map((dimension) =>
      typeof dimension === "number" ? { kind: "size", size: dimension, span: NOWHERE } : dimensionOf(dimension, 0),
    ),
    ...(type === undefined ? {} : { type: named(type) }),
    ...(start === undefined ? {} : { default: named(start) }),
    span: NOWHERE,
  };
}

function named(text: string): Name {
  return { text, span: NOWHERE };
}

export function fromValueData(data: ValueData): Value {
  if (typeof data === "number") return { kind: "number", value: data, at: 0 };
  if (Array.isArray(data)) return { kind: "group", items: data.map(fromValueData), at: 0 };
  return fromObjectData(data as Exclude<ValueData, number | readonly ValueData[]>);
}

function fromObjectData(data: Exclude<ValueData, number | readonly ValueData[]>): Value {
  if ("number" in data) return { kind: "number", value: specialNumber(data.number), text: data.number, at: 0 };
  if ("word" in data) return { kind: "word", text: data.word, at: 0 };
  if ("text" in data) return { kind: "string", text: data.text, at: 0 };
  const [entry] = data.entries;
  return { kind: "entry", key: entry?.key ?? "", value: fromValueData(entry?.value ?? []), at: 0 };
}

function specialNumber(text: string): number {
  if (text === "-0") return -0;
  return text.startsWith("-") ? -Infinity : Infinity;
}
