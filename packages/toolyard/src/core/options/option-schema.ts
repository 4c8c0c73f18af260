import type { JsonObject } from "../json/json.ts";
import type { ProviderKind } from "../sources/provider-kinds.ts";
import type { TableFacts } from "../sources/table-facts.ts";

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
  /** Present: the value of an environment variable, which is a secret only if its name or its value shows that. */
  readonly "~variable"?: true;
  /** Present: each entry of this table, or list of tables, is a source of its own. */
  readonly "~sources"?: SourceTable;
  /** Present: what this table says of itself to those who read and write files. */
  readonly "~table"?: TableFacts;
  /** Present: how a part reads a value that was written, such as `"30s"`. Throws an `OptionError`. */
  readonly "~read"?: (value: never, name: string) => unknown;
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
  /** The member that names a file of variables. @default there is none */
  readonly variablesFile?: VariablesFileMember;
}

/** A member that names a file of `NAME=value` lines, and the table that gets its variables. */
export interface VariablesFileMember {
  readonly file: string;
  readonly into: string;
}

/** The schema of members that have no names of their own, where a table takes any key. */
export function valuesOf({ additionalProperties: values }: OptionSchema): OptionSchema | undefined {
  return typeof values === "object" ? values : undefined;
}

export type Static<S> = S extends OptionSchema<infer T> ? T : never;

type SchemaMark = "~optional" | "~sources" | "~table" | "~read" | "~variable";
export type Notes = Omit<OptionSchema, "type" | "~type" | SchemaMark | "properties" | "items" | "anyOf">;
/** What the compiler knows of a schema by its notes: whether it has a default. */
export type SchemaWithNotes<S, N> = N extends { readonly default: unknown } ? S & { readonly "~default": true } : S;
type OptionProperties = Readonly<Record<string, OptionSchema>>;
type OptionalKeys<P> = { [K in keyof P]: P[K] extends { readonly "~optional": true } ? K : never }[keyof P];
/** What a table of these members holds. */
export type ObjectOf<P> = { readonly [K in Exclude<keyof P, OptionalKeys<P>>]: Static<P[K]> } & {
  readonly [K in OptionalKeys<P>]?: Static<P[K]>;
};
type UnionOf<M extends readonly OptionSchema[]> = Static<M[number]>;

/** Sections of a configuration, by name. */
export type Sections = Readonly<Record<string, OptionSchema>>;

export type Optional<S extends OptionSchema> = S & { readonly "~optional": true };

function noted<S extends OptionSchema, N extends Notes>(schema: S, notes: N | undefined): SchemaWithNotes<S, N> {
  return { ...schema, ...notes } as unknown as SchemaWithNotes<S, N>;
}

function String_<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<string>, N> {
  return noted<OptionSchema<string>, N>({ type: "string" }, notes);
}

/**
 * A secret: given literally, by variable, or as `{file = "…"}`; by the time a part sees it, it is the string itself.
 */
function Secret<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<string>, N> {
  return noted<OptionSchema<string>, N>({ type: "string", writeOnly: true }, notes);
}

/** The value of an environment variable, which may be a secret and is therefore not shown among the options. */
function Variable(): OptionSchema<string> {
  return marked(Secret(), "~variable", true);
}

function Path<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<string>, N> {
  return noted<OptionSchema<string>, N>({ type: "string", format: "path" }, notes);
}

function Number_<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<number>, N> {
  return noted<OptionSchema<number>, N>({ type: "number" }, notes);
}

function Integer<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<number>, N> {
  return noted<OptionSchema<number>, N>({ type: "integer" }, notes);
}

function Boolean_<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<boolean>, N> {
  return noted<OptionSchema<boolean>, N>({ type: "boolean" }, notes);
}

function Literal<const V extends string | number | boolean>(value: V, notes: Notes = {}): OptionSchema<V> {
  return { const: value, ...notes };
}

function Enum<const V extends readonly string[], const N extends Notes = {}>(
  values: V,
  notes?: N,
): SchemaWithNotes<OptionSchema<V[number]>, N> {
  return noted<OptionSchema<V[number]>, N>({ type: "string", enum: values }, notes);
}

function Array_<S extends OptionSchema, const N extends Notes = {}>(
  items: S,
  notes?: N,
): SchemaWithNotes<OptionSchema<readonly Static<S>[]>, N> {
  return noted<OptionSchema<readonly Static<S>[]>, N>({ type: "array", items }, notes);
}

function Record_<S extends OptionSchema, const N extends Notes = {}>(
  values: S,
  notes?: N,
): SchemaWithNotes<OptionSchema<Readonly<Record<string, Static<S>>>>, N> {
  return noted<OptionSchema<Readonly<Record<string, Static<S>>>>, N>(
    { type: "object", additionalProperties: values },
    notes,
  );
}

function Union<const M extends readonly OptionSchema[], const N extends Notes = {}>(
  members: M,
  notes?: N,
): SchemaWithNotes<OptionSchema<UnionOf<M>>, N> {
  return noted<OptionSchema<UnionOf<M>>, N>({ anyOf: members }, notes);
}

/** The schema of a table with these members. */
export type ObjectSchema<P extends OptionProperties> = Omit<OptionSchema<ObjectOf<P>>, "properties"> & {
  readonly properties: P;
};

/** Unknown keys are refused unless the notes say `additionalProperties: true`. */
function Object_<P extends OptionProperties, const N extends Notes = {}>(
  properties: P,
  notes?: N,
): SchemaWithNotes<ObjectSchema<P>, N> {
  const required = Object.keys(properties).filter((key) => !properties[key]!["~optional"]);
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
    ...notes,
  } as SchemaWithNotes<ObjectSchema<P>, N>;
}

const MARKS: readonly SchemaMark[] = ["~optional", "~sources", "~table", "~read", "~variable"];

// Marks must not travel into JSON, so they are not enumerable, and copying leaves them out.
function marked<S extends OptionSchema>(schema: S, mark: SchemaMark, value: unknown): S {
  const copy = { ...schema };
  for (const other of MARKS) {
    const kept = other === mark ? value : schema[other];
    if (kept !== undefined) Object.defineProperty(copy, other, { value: kept, enumerable: false });
  }
  return copy;
}

function optional<S extends OptionSchema>(schema: S): Optional<S> {
  return marked(schema, "~optional", true) as Optional<S>;
}

/** A table, or a list of tables, whose entries are sources. */
function sources<S extends OptionSchema>(schema: S, table: SourceTable): S {
  return marked(schema, "~sources", table);
}

/** A table with what it says of itself. */
function table<S extends OptionSchema>(schema: S, facts: TableFacts): S {
  return marked(schema, "~table", facts);
}

/** A value that is written in one way and used in another, such as a duration. */
function read<S extends OptionSchema, R>(
  schema: S,
  reader: (value: Static<S>, name: string) => R,
): S & { readonly "~value": R } {
  return marked(schema, "~read", reader) as S & { readonly "~value": R };
}

export const Type = {
  String: String_,
  Secret,
  Variable,
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
  Table: table,
  Read: read,
} as const;
