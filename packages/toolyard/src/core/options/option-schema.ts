import type { JsonObject } from "../json/json.ts";
import type { ProviderKind } from "../sources/provider-kinds.ts";
import type { TableFacts } from "../sources/table-facts.ts";

/**
 * Builders for the schemas of options: plain JSON Schema objects that carry their TypeScript type, with the keywords
 * that the configuration needs. `config/` checks values against these schemas, and the published JSON Schema of the
 * configuration is generated from them. (A schema library would cost 20 MB and 100 ms at every start for the same few
 * keywords.)
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
  /** Present if the value is a path, relative to the folder of the file that contains it. */
  readonly format?: "path";
  /** True if the value is a secret: a literal, `${VAR}`, `${VAR:-default}` or `{file = "…"}`. It is never shown. */
  readonly writeOnly?: boolean;
  /**
   * Present if the option is the value of an environment variable. The value is secret only if the variable's name or
   * value indicates a secret.
   */
  readonly "~variable"?: true;
  /** Present if each entry of this table, or of this list of tables, is a separate source. */
  readonly "~sources"?: SourceTable;
  /** Present: metadata of this table, for code that reads and writes files. */
  readonly "~table"?: TableFacts;
  /**
   * Present: converts a value as it is written, such as `"30s"`, to the value that the hub uses. Throws an
   * `OptionError`.
   */
  readonly "~read"?: (value: never, name: string) => unknown;
  /** Type of an accepted value, for the compiler only. */
  readonly "~type"?: T;
  readonly "~optional"?: true;
}

/** Metadata of a table of sources. An invalid entry disables only itself. */
export interface SourceTable {
  readonly kind: ProviderKind;
  /** Returns the name of an entry in a list. @default the key of the entry in the table */
  readonly nameOf?: (entry: unknown) => string;
  /**
   * Keys that a disabled entry (`enabled = false`) keeps. References to variables in all its other keys are not
   * resolved.
   */
  readonly identity: readonly string[];
  /** Values for members that an entry in a file omits. Paths are relative to that file. @default {} */
  readonly base?: JsonObject;
  /** Member that names a file of variables. @default none */
  readonly variablesFile?: VariablesFileMember;
}

/** Member that names a file of `NAME=value` lines, and the table that gets these variables. */
export interface VariablesFileMember {
  readonly file: string;
  readonly into: string;
}

/** Returns the schema of unnamed members, if a table accepts any key. */
export function valuesOf({ additionalProperties: values }: OptionSchema): OptionSchema | undefined {
  return typeof values === "object" ? values : undefined;
}

export type Static<S> = S extends OptionSchema<infer T> ? T : never;

type SchemaMark = "~optional" | "~sources" | "~table" | "~read" | "~variable";
export type Notes = Omit<OptionSchema, "type" | "~type" | SchemaMark | "properties" | "items" | "anyOf">;
/** Type of a schema with its notes. It lets the compiler derive whether the option has a default. */
export type SchemaWithNotes<S, N> = N extends { readonly default: unknown } ? S & { readonly "~default": true } : S;
type OptionProperties = Readonly<Record<string, OptionSchema>>;
type OptionalKeys<P> = { [K in keyof P]: P[K] extends { readonly "~optional": true } ? K : never }[keyof P];
/** Type of a table with these members. */
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

/** Schema of a secret: a literal, a variable, or `{file = "…"}`. The option's value is the resolved string. */
function Secret<const N extends Notes = {}>(notes?: N): SchemaWithNotes<OptionSchema<string>, N> {
  return noted<OptionSchema<string>, N>({ type: "string", writeOnly: true }, notes);
}

/** Schema of an environment variable's value. It may be a secret and is therefore not shown among the options. */
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

/** Schema of a table with these members. */
export type ObjectSchema<P extends OptionProperties> = Omit<OptionSchema<ObjectOf<P>>, "properties"> & {
  readonly properties: P;
};

/** Schema of a table. Unknown keys are refused unless the notes contain `additionalProperties: true`. */
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

// Marks are defined as non-enumerable, because they must not appear in JSON. A copy of the schema does not have them.
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

/** Marks a table, or a list of tables, so that each of its entries counts as a separate source. */
function sources<S extends OptionSchema>(schema: S, table: SourceTable): S {
  return marked(schema, "~sources", table);
}

/** Marks a table with its metadata. */
function table<S extends OptionSchema>(schema: S, facts: TableFacts): S {
  return marked(schema, "~table", facts);
}

/** Marks a value that is written in one form and used in another, such as a duration. */
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
