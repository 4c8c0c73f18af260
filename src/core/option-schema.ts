import type { JsonObject } from "./json.ts";
import type { ProviderKind } from "./provider-kinds.ts";

/**
 * Builders for the schemas of options: plain JSON Schema objects that carry their TypeScript type. Only the words that
 * configuration needs; `config/` checks values against them, and the published JSON Schema of the configuration is made
 * of them. (A schema library costs 20 MB and 100 ms at every start, for the same few words.)
 */
export interface OptionSchema<T = unknown> {
  readonly type?: "string" | "number" | "integer" | "boolean" | "object" | "array";
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: OptionSchema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | OptionSchema;
  readonly anyOf?: readonly OptionSchema[];
  readonly examples?: readonly unknown[];
  /** A path, taken relative to the folder of the file it stands in. */
  readonly format?: "path";
  /** The value is a secret: a literal, `${VAR}`, `${VAR:-default}` or `{file = "…"}`; shown nowhere. */
  readonly writeOnly?: boolean;
  /** Present: each entry of this table, or list of tables, is a source of its own. */
  readonly "~sources"?: SourceTable;
  /** Only for the compiler: the type of an accepted value. */
  readonly "~type"?: T;
  readonly "~optional"?: true;
}

/** What a table of sources says of its entries. One that cannot be had takes itself out, and nothing else. */
export interface SourceTable {
  readonly kind: ProviderKind;
  /** What an entry of a list is called; one of a table is called by its key. @default the key */
  readonly nameOf?: (entry: unknown) => string;
  /** Keys that an entry keeps while it is switched off by `enabled = false`: it needs none of its variables then. */
  readonly identity: readonly string[];
  /** What holds where an entry in a file does not say it; paths count from that file. @default {} */
  readonly base?: JsonObject;
}

/** The schema of members that have no names of their own, where a table takes any key. */
export function valuesOf({ additionalProperties: values }: OptionSchema): OptionSchema | undefined {
  return typeof values === "object" ? values : undefined;
}

export type Static<S> = S extends OptionSchema<infer T> ? T : never;

type Notes = Omit<OptionSchema, "type" | "~type" | "~optional" | "~sources" | "properties" | "items" | "anyOf">;
type Properties = Readonly<Record<string, OptionSchema>>;
type OptionalKeys<P> = { [K in keyof P]: P[K] extends { readonly "~optional": true } ? K : never }[keyof P];
/** What a table of these members holds. */
export type ObjectOf<P> = { readonly [K in Exclude<keyof P, OptionalKeys<P>>]: Static<P[K]> } & {
  readonly [K in OptionalKeys<P>]?: Static<P[K]>;
};
type UnionOf<M extends readonly OptionSchema[]> = Static<M[number]>;

/** Sections of a configuration, by name. */
export type Sections = Readonly<Record<string, OptionSchema>>;

export type Optional<S extends OptionSchema> = S & { readonly "~optional": true };

function String_(notes: Notes = {}): OptionSchema<string> {
  return { type: "string", ...notes };
}

/**
 * A secret: given literally, by variable, or as `{file = "…"}`; by the time a part sees it, it is the string itself.
 */
function Secret(notes: Notes = {}): OptionSchema<string> {
  return { type: "string", writeOnly: true, ...notes };
}

function Path(notes: Notes = {}): OptionSchema<string> {
  return { type: "string", format: "path", ...notes };
}

function Number_(notes: Notes = {}): OptionSchema<number> {
  return { type: "number", ...notes };
}

function Integer(notes: Notes = {}): OptionSchema<number> {
  return { type: "integer", ...notes };
}

function Boolean_(notes: Notes = {}): OptionSchema<boolean> {
  return { type: "boolean", ...notes };
}

function Literal<const V extends string | number | boolean>(value: V, notes: Notes = {}): OptionSchema<V> {
  return { const: value, ...notes };
}

function Enum<const V extends readonly string[]>(values: V, notes: Notes = {}): OptionSchema<V[number]> {
  return { type: "string", enum: values, ...notes };
}

function Array_<S extends OptionSchema>(items: S, notes: Notes = {}): OptionSchema<readonly Static<S>[]> {
  return { type: "array", items, ...notes };
}

function Record_<S extends OptionSchema>(
  values: S,
  notes: Notes = {},
): OptionSchema<Readonly<Record<string, Static<S>>>> {
  return { type: "object", additionalProperties: values, ...notes };
}

function Union<const M extends readonly OptionSchema[]>(members: M, notes: Notes = {}): OptionSchema<UnionOf<M>> {
  return { anyOf: members, ...notes };
}

/** Unknown keys are refused unless the notes say `additionalProperties: true`. */
function Object_<P extends Properties>(
  properties: P,
  notes: Notes = {},
): OptionSchema<ObjectOf<P>> & { readonly properties: P } {
  const required = Object.keys(properties).filter((key) => !properties[key]!["~optional"]);
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
    ...notes,
  };
}

// Marks must not travel into JSON, so they are not enumerable.
function marked<S extends OptionSchema>(schema: S, mark: "~optional" | "~sources", value: unknown): S {
  const copy = Object.defineProperty({ ...schema }, mark, { value, enumerable: false });
  // A schema may bear both marks, and copying leaves out what is not enumerable.
  const other = mark === "~optional" ? "~sources" : "~optional";
  return schema[other] === undefined
    ? copy
    : Object.defineProperty(copy, other, { value: schema[other], enumerable: false });
}

function optional<S extends OptionSchema>(schema: S): Optional<S> {
  return marked(schema, "~optional", true) as Optional<S>;
}

/** A table, or a list of tables, whose entries are sources. */
function sources<S extends OptionSchema>(schema: S, table: SourceTable): S {
  return marked(schema, "~sources", table);
}

export const Type = {
  String: String_,
  Secret,
  Path,
  Number: Number_,
  Integer,
  Boolean: Boolean_,
  Literal,
  Enum,
  Array: Array_,
  Record: Record_,
  Union,
  Object: Object_,
  Optional: optional,
  Sources: sources,
} as const;
