import { exactNumber } from "../core/json/exact-json.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { localTarget } from "./local-target.ts";

/** Arguments that did not fit their schema, read in a second, more tolerant way. */
export interface AdaptedArguments {
  /** The value to validate: texts are converted to numbers and booleans, and the values of `kept` are absent. */
  readonly checked: JsonObject;
  /** Returns `value` with the members that were absent during validation. */
  restore(value: JsonObject): JsonObject;
}

export interface AdaptOptions {
  /** True: text is read as a number or a boolean if the schema allows no other scalar type. */
  readonly coerces: boolean;
}

/**
 * Maximum number of values and schemas that one call reads, since it runs in the event loop. Larger arguments keep the
 * result of the first validation. Each value reads all schemas that may apply to it, such as the branches of a union.
 */
const MAX_STEPS = 30_000;

/**
 * Reads arguments that do not fit their schema as tolerantly as the official servers. A member that equals its schema's
 * `default` counts as absent, since a default that the schema itself does not allow is a mistake of the tool's author.
 * With `coerces`, `"3"` is a number and `"true"` a boolean if the schema has one scalar type. Returns undefined if
 * nothing can be read differently. The given arguments are not changed.
 */
export function adaptArguments(
  schema: JsonObject,
  args: JsonObject,
  { coerces }: AdaptOptions,
): AdaptedArguments | undefined {
  const adaption = new Adaption(schema, coerces);
  const checked = adaption.value([schema], args, []) as JsonObject;
  if (checked === args || adaption.isOver) return undefined;
  const { kept } = adaption;
  return { checked, restore: (value) => (kept.length === 0 ? value : (withKept(value, kept, 0) as JsonObject)) };
}

type PathStep = string | number;

interface KeptMember {
  readonly path: readonly PathStep[];
  readonly value: unknown;
}

const ABSENT = Symbol("absent");

class Adaption {
  readonly kept: KeptMember[] = [];
  readonly #root: JsonObject;
  readonly #coerces: boolean;
  #steps = 0;

  constructor(root: JsonObject, coerces: boolean) {
    this.#root = root;
    this.#coerces = coerces;
  }

  get isOver(): boolean {
    return this.#steps > MAX_STEPS;
  }

  /** Returns the value to validate; the same object if nothing in it is read differently. */
  value(schemas: readonly unknown[], value: unknown, path: readonly PathStep[]): unknown {
    this.#steps += 1;
    if (this.isOver) return value;
    const candidates = this.#candidates(schemas);
    if (Array.isArray(value)) return this.#list(candidates, value, path);
    if (isJsonObject(value)) return this.#object(candidates, value, path);
    return this.#coerces && typeof value === "string" ? coerced(value, candidates) : value;
  }

  #object(candidates: readonly JsonObject[], object: JsonObject, path: readonly PathStep[]): JsonObject {
    const entries = Object.entries(object);
    let isSame = true;
    const read = entries.flatMap(([name, value]): [string, unknown][] => {
      const schemas = candidates.flatMap((schema) => propertySchema(schema, name));
      const member = this.#member(schemas, value, [...path, name]);
      isSame &&= member === value;
      return member === ABSENT ? [] : [[name, member]];
    });
    return isSame ? object : Object.fromEntries(read);
  }

  #member(schemas: readonly unknown[], value: unknown, path: readonly PathStep[]): unknown {
    const isOwnDefault = schemas.some(
      (schema) => isJsonObject(schema) && "default" in schema && isSameScalar(schema["default"], value),
    );
    if (!isOwnDefault) return this.value(schemas, value, path);
    this.#steps += 1;
    this.kept.push({ path, value });
    return ABSENT;
  }

  #list(candidates: readonly JsonObject[], list: readonly unknown[], path: readonly PathStep[]): readonly unknown[] {
    const read = list.map((value, index) =>
      this.value(
        candidates.flatMap((schema) => itemSchema(schema, index)),
        value,
        [...path, index],
      ),
    );
    return read.every((value, index) => value === list[index]) ? list : read;
  }

  /**
   * Returns the schemas and their parts that apply to the same value: branches of unions, parts of `allOf`, targets of
   * references.
   */
  #candidates(schemas: readonly unknown[]): readonly JsonObject[] {
    const found = new Set<JsonObject>();
    const open = [...schemas];
    while (open.length > 0 && !this.isOver) {
      const schema = open.pop();
      this.#steps += 1;
      if (!isJsonObject(schema) || found.has(schema)) continue;
      found.add(schema);
      const { $ref, allOf, anyOf, oneOf } = schema;
      if (typeof $ref === "string") open.push(localTarget($ref, this.#root));
      for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) open.push(...(list as unknown[]));
    }
    return [...found];
  }
}

function propertySchema(schema: JsonObject, name: string): readonly unknown[] {
  const { properties, additionalProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return [properties[name]];
  return [additionalProperties];
}

function itemSchema({ prefixItems, items }: JsonObject, index: number): readonly unknown[] {
  const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  return [index < tuple.length ? (tuple as unknown[])[index] : items];
}

/** Returns the scalar types that these schemas allow; integers count as numbers. */
function scalarTypes(schemas: readonly JsonObject[]): ReadonlySet<string> {
  const types = new Set<string>();
  for (const { type, const: constant, enum: values } of schemas) {
    for (const one of [type].flat()) if (typeof one === "string") types.add(one === "integer" ? "number" : one);
    const named = [
      ...(constant === undefined ? [] : [constant]),
      ...(Array.isArray(values) ? (values as unknown[]) : []),
    ];
    for (const one of named) types.add(one === null ? "null" : typeof one === "bigint" ? "number" : typeof one);
  }
  types.delete("null");
  return types;
}

function coerced(text: string, schemas: readonly JsonObject[]): unknown {
  const [type, ...others] = scalarTypes(schemas);
  if (others.length > 0) return text;
  if (type === "number") return readNumber(text) ?? text;
  return type === "boolean" && BOOLEAN.test(text) ? text.toLowerCase() === "true" : text;
}

const BOOLEAN = /^(?:true|false)$/i;
/**
 * A number in JSON syntax. Spaces, a leading plus, hexadecimal digits and separators are ambiguous, so they are not
 * accepted.
 */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Maximum number of digits that a double holds without loss. A longer fraction would be rounded. */
const MAX_EXACT_DIGITS = 15;

function readNumber(text: string): number | bigint | undefined {
  if (!NUMBER.test(text)) return undefined;
  const isInteger = /^-?\d+$/.test(text);
  if (!isInteger && text.replaceAll(/\D/g, "").length > MAX_EXACT_DIGITS) return undefined;
  const value = exactNumber(text);
  return typeof value === "bigint" || (value !== undefined && Number.isFinite(value)) ? value : undefined;
}

function isSameScalar(first: unknown, second: unknown): boolean {
  return first === second && (typeof first !== "object" || first === null);
}

/** Returns a value with the members that were absent for the check. Copies each changed list and object once. */
function withKept(whole: unknown, kept: readonly KeptMember[], depth: number): unknown {
  const changed = Array.from(byStep(kept, depth), ([step, below]): readonly [PathStep, unknown] => {
    const [first] = below;
    const isHere = first!.path.length === depth + 1;
    return [step, isHere ? first!.value : withKept((whole as JsonObject)[step], below, depth + 1)];
  });
  if (Array.isArray(whole)) {
    const list = [...(whole as unknown[])];
    for (const [step, value] of changed) list[Number(step)] = value;
    return list;
  }
  const members = new Map(Object.entries(whole as JsonObject));
  for (const [step, value] of changed) members.set(String(step), value);
  return Object.fromEntries(members);
}

function byStep(kept: readonly KeptMember[], depth: number): ReadonlyMap<PathStep, readonly KeptMember[]> {
  const groups = new Map<PathStep, KeptMember[]>();
  for (const one of kept) {
    const step = one.path[depth]!;
    const group = groups.get(step);
    if (group) group.push(one);
    else groups.set(step, [one]);
  }
  return groups;
}
