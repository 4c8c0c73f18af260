import type { ErrorObject } from "ajv";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { nearest } from "../core/text/suggest.ts";
import { describeReceived, describeSchema, listValues } from "./describe-schema.ts";
import { localPath } from "./value-path.ts";
import { firstChars, lastChars } from "../core/text/truncate.ts";

/** One validation error, described so that the caller can fix the value. */
export interface SchemaError {
  /** Path in the value: `to[0].email`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
  /** Description of the expected value. */
  readonly expected: string;
  /** JSON type of the received value. */
  readonly received: string;
}

const MAX_ERRORS = 20;
const MAX_TOLD = 10;
const MAX_CLOSEST = 3;
const MAX_MESSAGE_CHARS = 400;
/** Maximum length of a reported path, of which the end is kept. One name may be as long as the whole value. */
const MAX_PATH_CHARS = 1000;

/** Converts Ajv's errors about `value` (all of them, verbose) into a few actionable ones. */
export function explainErrors(errors: readonly ErrorObject[], value: unknown, root: JsonObject): SchemaError[] {
  return foldUnions(errors)
    .slice(0, MAX_ERRORS)
    .map(({ error, closest }) => {
      const told = explain(error, value, root);
      if (closest.length === 0) return told;
      const hints = closest.slice(0, MAX_CLOSEST).map((inner) => explain(inner, value, root).message);
      return { ...told, message: `${told.message.replace(/, got an? \w+$/, "")}; closest: ${hints.join("; ")}` };
    });
}

/** Joins several errors into one text. */
export function joinErrors(errors: readonly SchemaError[]): string {
  const told = errors.slice(0, MAX_TOLD).map(({ message }) => message);
  const more = errors.length - told.length;
  return told.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

interface FoldedError {
  readonly error: ErrorObject;
  /** For a union: the errors of the branches whose type matches the value. */
  readonly closest: readonly ErrorObject[];
}

// Ajv reports the errors of each branch of a union before the error of the union itself. Most of them concern branches
// that the caller did not intend, and are dropped. Errors inside the value, or about a missing or extra member, are
// kept, because their branch accepts the type of the value.
function foldUnions(errors: readonly ErrorObject[]): FoldedError[] {
  const kept: FoldedError[] = [];
  for (const error of errors) {
    if (error.keyword === "if") continue;
    const closest: ErrorObject[] = [];
    while (UNIONS.has(error.keyword) && isBranchError(kept.at(-1)?.error, error)) {
      const inner = kept.pop()!.error;
      if (inner.instancePath !== error.instancePath || NAMES_A_MEMBER.has(inner.keyword)) closest.unshift(inner);
    }
    kept.push({ error, closest });
  }
  return kept;
}

const UNIONS = new Set(["anyOf", "oneOf", "propertyNames"]);
const NAMES_A_MEMBER = new Set(["required", "additionalProperties", "unevaluatedProperties"]);

function isBranchError(error: ErrorObject | undefined, union: ErrorObject): boolean {
  if (error === undefined) return false;
  const parent = union.schemaPath.slice(0, union.schemaPath.lastIndexOf("/"));
  const isOwn = error.schemaPath === `${parent}/${error.keyword}`;
  return (
    !isOwn && (error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`))
  );
}

function explain(error: ErrorObject, value: unknown, root: JsonObject): SchemaError {
  const at = localPath(error.instancePath, value);
  const told = (EXPLAIN[error.keyword] ?? otherwise)({ error, path: at, root });
  const message =
    told.message.length > MAX_MESSAGE_CHARS ? `${firstChars(told.message, MAX_MESSAGE_CHARS)}…` : told.message;
  return {
    path: lastChars(told.path ?? at, MAX_PATH_CHARS),
    message,
    expected: told.expected,
    received: told.received ?? describeReceived(error.data),
  };
}

interface LocatedError {
  readonly error: ErrorObject;
  readonly path: string;
  readonly root: JsonObject;
}

interface SchemaErrorText {
  readonly message: string;
  readonly expected: string;
  readonly path?: string;
  readonly received?: string;
}

const EXPLAIN: Readonly<Record<string, (found: LocatedError) => SchemaErrorText>> = {
  required: missing,
  additionalProperties: unknownMember,
  unevaluatedProperties: unknownMember,
  enum: ({ error, path }) => {
    const values = error.schema as readonly unknown[];
    const [near] =
      typeof error.data === "string"
        ? nearest(
            firstChars(error.data, 100),
            values.filter((value) => typeof value === "string"),
            1,
          )
        : [];
    const expected = `one of ${listValues(values)}`;
    const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
    return {
      expected,
      message: `${named(path)} must be ${expected}${hint}`,
    };
  },
  const: ({ error, path }) => ({
    expected: listValues([error.schema]),
    message: `${named(path)} must be ${listValues([error.schema])}`,
  }),
  type: wanted,
  anyOf: wanted,
  oneOf: (found) => {
    const several = Array.isArray(found.error.params["passingSchemas"]);
    return several
      ? {
          expected: "exactly one form",
          message: `${named(found.path)} fits several of the forms of which it must have exactly one`,
        }
      : wanted(found);
  },
  not: ({ path }) => ({ expected: "another value", message: `${named(path)} has a form that is excluded` }),
  "false schema": ({ path }) => ({ expected: "nothing", message: `${named(path)} is not accepted` }),
  pattern: ({ error, path }) => ({
    expected: `text matching ${String(error.schema)}`,
    message: `${named(path)} must match the pattern ${String(error.schema)}`,
  }),
  format: ({ error, path }) => ({
    expected: `a string (${String(error.schema)})`,
    message: `${named(path)} must be in the format ${String(error.schema)}`,
  }),
  propertyNames: ({ error, path }) => ({
    expected: "another property name",
    message:
      `${named(path)} has the property ${JSON.stringify(firstChars(String(error.params["propertyName"]), 100))}, a ` +
      "name that is not accepted",
  }),
  uniqueItems: ({ path }) => ({
    expected: "items that all differ",
    message: `${named(path)} must not hold the same item twice`,
  }),
};

function otherwise({ error, path }: LocatedError): SchemaErrorText {
  const words = error.message ?? "is not valid";
  return { expected: words.replace(/^must /, ""), message: `${named(path)} ${words}` };
}

function wanted({ error, path, root }: LocatedError): SchemaErrorText {
  const expected = describeSchema(error.parentSchema, root);
  return { expected, message: `${named(path)} must be ${expected}, got ${describeReceived(error.data)}` };
}

function missing({ error, path, root }: LocatedError): SchemaErrorText {
  const name = String(error.params["missingProperty"]);
  const at = join(path, name);
  const properties = propertiesOf(error.parentSchema);
  const strangers = isJsonObject(error.data)
    ? Object.keys(error.data).filter((key) => !Object.hasOwn(properties, key))
    : [];
  const [near] = nearest(name, strangers, 1);
  // The wording must not change, because callers search for it.
  const message =
    "Missing required parameter: " +
    `${at}${near === undefined ? "" : ` (${quote(near)} was given, did you mean ${quote(name)}?)`}`;
  return { path: at, expected: describeSchema(properties[name], root), received: "nothing", message };
}

function unknownMember({ error, path }: LocatedError): SchemaErrorText {
  const name = String(error.params["additionalProperty"] ?? error.params["unevaluatedProperty"]);
  const known = Object.keys(propertiesOf(error.parentSchema));
  const [near] = nearest(name, known, 1);
  const expected = known.length === 0 ? "no parameters" : `one of ${listValues(known)}`;
  const hint = near === undefined ? ` (accepted: ${expected})` : `, did you mean ${quote(near)}?`;
  const data = isJsonObject(error.data) ? error.data[name] : undefined;
  return {
    path: join(path, name),
    expected,
    received: describeReceived(data),
    message: `Unknown parameter: ${firstChars(join(path, name), 100)}${hint}`,
  };
}

function propertiesOf(schema: unknown): JsonObject {
  return isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
}

function quote(text: string): string {
  return JSON.stringify(firstChars(text, 100));
}

function named(path: string): string {
  return path === "" ? "The value" : `\`${lastChars(path, 120)}\``;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
