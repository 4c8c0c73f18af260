import type { FileData } from "../language/data.ts";
import { LIMITS } from "../language/limits.ts";
import { FormatError } from "./format-error.ts";
import { firstChars } from "toolyard/text";

type Check = (value: unknown, path: string) => void;

/** Checks that untrusted data has the shape of `FileData`. Throws a `FormatError` that names the wrong member. */
export function checkFileData(data: object): FileData {
  FILE(data, "");
  return data as FileData;
}

function fail(path: string, expected: string, value: unknown): never {
  const shown = firstChars(JSON.stringify(value) ?? "nothing", 60);
  throw new FormatError(`${path || "The data"} must be ${expected}, got ${shown}.`);
}

const text: Check = (value, path) => {
  if (typeof value !== "string") fail(path, "a text", value);
};

const boolean: Check = (value, path) => {
  if (typeof value !== "boolean") fail(path, "true or false", value);
};

const anything: Check = () => {};

function optional(check: Check): Check {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

function oneOf(...words: readonly string[]): Check {
  return (value, path) => {
    if (typeof value !== "string" || !words.includes(value)) fail(path, words.join(" or "), value);
  };
}

function list(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) fail(path, "a list", value);
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`);
  };
}

function record(members: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (!isRecord(value)) fail(path, "an object", value);
    for (const [key, check] of Object.entries(members)) check(value[key], path === "" ? key : `${path}.${key}`);
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const dimension: Check = (value, path) => {
  const isSize = typeof value === "number" && Number.isInteger(value) && value >= 0;
  if (!isSize && typeof value !== "string") fail(path, "a whole number or a text", value);
};

const tensor: Check = (value, path) => checkValue(value, path, 0);

function checkValue(value: unknown, path: string, depth: number): void {
  if (typeof value === "number") return;
  if (depth >= LIMITS.depth) fail(path, `lists nested at most ${LIMITS.depth} deep`, []);
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) checkValue(item, `${path}[${index}]`, depth + 1);
  else if (!isRecord(value)) fail(path, "a number, a list or an object", value);
  else if ("entries" in value)
    list((entry, at) => {
      record({ key: text })(entry, at);
      checkValue((entry as { readonly value?: unknown }).value, `${at}.value`, depth + 1);
    })(value["entries"], `${path}.entries`);
  else if (typeof (value["number"] ?? value["word"] ?? value["text"]) !== "string")
    fail(path, "an object with number, word, text or entries", value);
}

const comment = { comment: optional(text) };
const STATEMENTS: Readonly<Record<string, Check>> = {
  blank: anything,
  comment: record({ text }),
  raw: record({ text }),
  variable: record({
    name: text,
    dimensions: list(dimension),
    type: optional(text),
    default: optional(text),
    options: list(record({ key: text, value: text })),
    ...comment,
  }),
  connection: record({
    sources: list(text),
    targets: list(text),
    directed: boolean,
    label: optional(text),
    constraint: optional(text),
    ...comment,
  }),
  assignment: record({ name: text, value: tensor, ...comment }),
  equation: record({ text, ...comment }),
  time: record({ key: text, value: optional(text), ...comment }),
  mapping: record({ name: text, term: text, ...comment }),
  parameter: record({ key: text, value: tensor, ...comment }),
};

const statement: Check = (value, path) => {
  record({ kind: oneOf(...Object.keys(STATEMENTS)) })(value, path);
  STATEMENTS[(value as { readonly kind: string }).kind]!(value, path);
};

const section: Check = (value, path) => {
  record({ name: text })(value, path);
  const hasText = isRecord(value) && "text" in value;
  record(hasText ? { text } : { statements: list(statement) })(value, path);
};

const FILE = record({
  form: oneOf("markdown", "csv"),
  frontMatter: optional(record({ lines: list(text), values: record({}) })),
  models: list(record({ header: list(text), sections: list(section) })),
});
