import { stringifyExact } from "../json/exact-json.ts";
import { OptionError } from "../errors.ts";
import {
  Type,
  type SchemaWithNotes,
  type Notes,
  type ObjectOf,
  type OptionSchema,
  type Static,
} from "./option-schema.ts";

type ValueProperties = Readonly<Record<string, OptionSchema>>;

/** Value of a member after conversion: a duration in milliseconds, a size in bytes, all other values as written. */
type OptionValue<S> = S extends { readonly "~value": infer R } ? R : Static<S>;
type AbsentKeys<P> = {
  [K in keyof P]: P[K] extends { readonly "~default": true }
    ? never
    : P[K] extends { readonly "~optional": true }
      ? K
      : never;
}[keyof P];

/** Values of a table's members. Members with a default are always present. */
export type OptionValues<P> = { readonly [K in Exclude<keyof P, AbsentKeys<P>>]: OptionValue<P[K]> } & {
  readonly [K in AbsentKeys<P>]?: OptionValue<P[K]>;
};

/** Result of `readOptions` for a schema. */
export type ValuesOf<S extends { readonly properties: object }> = OptionValues<S["properties"]>;

/**
 * Returns the given values merged with the defaults of the schema, checked against its limits and converted. Limits and
 * choices are checked because programs may pass options that were never checked. `place` precedes the names of options
 * in messages. Nested tables are returned unchanged; the code that uses them reads them. Throws an `OptionError`.
 */
export function readOptions<P extends ValueProperties>(
  { properties }: { readonly properties: P },
  given: ObjectOf<P> | undefined,
  place = "",
): OptionValues<P> {
  const defaults = Object.entries(properties).map(([key, schema]) => [key, schema.default] as const);
  const present = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return readMembers(properties, Object.fromEntries([...defaults, ...present]), place) as OptionValues<P>;
}

/** Reads options like `readOptions`, but without the defaults, for values that override others. */
export function readGiven<P extends ValueProperties>(
  { properties }: { readonly properties: P },
  given: ObjectOf<P> | undefined,
  place = "",
): Partial<OptionValues<P>> {
  return readMembers(properties, given ?? {}, place) as Partial<OptionValues<P>>;
}

function readMembers(properties: ValueProperties, written: Readonly<Record<string, unknown>>, place: string): object {
  const values: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(properties)) {
    const value = written[key];
    if (value !== undefined) values[key] = readValue(schema, value, `${place}${key}`);
  }
  return values;
}

/** Reads options like `readOptions`, for a table with arbitrary keys. */
export function readEntries<S extends OptionSchema>(
  values: S,
  given: Readonly<Record<string, Static<S>>>,
  place: string,
): Readonly<Record<string, OptionValue<S>>> {
  const entries = Object.entries(given).map(([key, value]) => [key, readValue(values, value, `${place}${key}`)]);
  return Object.fromEntries(entries) as Readonly<Record<string, OptionValue<S>>>;
}

function readValue(schema: OptionSchema, value: unknown, name: string): unknown {
  const reader = schema["~read"] as ((value: unknown, name: string) => unknown) | undefined;
  if (reader) return reader(value, name);
  if (schema.type === "integer") return wholeNumber(schema, value, name);
  if (schema.enum && !schema.enum.includes(value))
    throw new OptionError(`\`${name}\` must be one of ${schema.enum.join(", ")}, got ${stringifyExact(value)}.`);
  return value;
}

function wholeNumber({ minimum = -Infinity, maximum = Infinity }: OptionSchema, value: unknown, name: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new OptionError(
    `\`${name}\` must be a whole number ${rangeOf(minimum, maximum)}, got ${stringifyExact(value)}.`,
  );
}

function rangeOf(minimum: number, maximum: number): string {
  return maximum === Infinity ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
}

/** Limits of a value that is written with a unit, and the text of the error. */
export interface AmountBounds {
  readonly above?: number;
  readonly least?: number;
  readonly most?: number;
  /** Text of the error: `must be …`. */
  readonly must: string;
}

/** Limit for durations that must be above zero. */
export const ABOVE_ZERO: AmountBounds = Object.freeze({ above: 0, must: "must be above 0" });

export type AmountNotes = Pick<Notes, "description" | "default" | "examples">;
export type AmountOption<N> = SchemaWithNotes<OptionSchema<number | string> & { readonly "~value": number }, N>;

/**
 * Returns the schema of an option that is written with a unit and parsed by `parse`. Values outside its limits cause an
 * `OptionError`.
 */
export function amountOption<N>(
  written: OptionSchema<number | string>,
  parse: (value: number | string, name: string) => number,
  bounds?: AmountBounds,
): AmountOption<N> {
  const { above = -Infinity, least = -Infinity, most = Infinity, must } = bounds ?? {};
  const read = (value: number | string, name: string): number => {
    const amount = parse(value, name);
    if (amount > above && amount >= least && amount <= most) return amount;
    throw new OptionError(`\`${name}\` ${must}, got ${stringifyExact(value)}.`);
  };
  return Type.Read(written, read) as AmountOption<N>;
}
