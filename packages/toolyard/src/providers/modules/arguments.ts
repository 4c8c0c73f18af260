import type { ModuleObject } from "./module-object.ts";

/**
 * The arguments of a handler, derived from its tool's schema. For a schema of a library (zod 3 and 4, any other
 * Standard Schema): its parsed type. For a JSON Schema written inline or `as const`: the described type, with defaults.
 * For a schema without type information: an object.
 */
export type ToolArguments<S> =
  S extends SchemaOutput<infer O>
    ? AsObject<O>
    : S extends { readonly type: "object"; readonly properties: infer P }
      ? ArgumentsObject<S, P>
      : ModuleObject;

/** True for a schema from which `ToolArguments` can derive a type. */
export type IsTyped<S> =
  S extends SchemaOutput<unknown>
    ? true
    : S extends { readonly type: "object"; readonly properties: infer P }
      ? IsExact<S, P>
      : false;

/** `_output` is the type member of zod before 3.24, which does not implement Standard Schema. */
type SchemaOutput<O> =
  | { readonly "~standard": { readonly types?: { readonly output: O } | undefined } }
  | { readonly _output: O; readonly _def: object };

type AsObject<O> = O extends object ? O : ModuleObject;

// True if the schema has its literal types. If its strings have the type `string`, TypeScript has widened it, and no
// type can be derived.
type IsExact<S, P> = S extends { readonly required: readonly (infer R)[] }
  ? string extends R
    ? false
    : HasExactTypes<P>
  : HasExactTypes<P>;
type HasExactTypes<P> = true extends {
  [K in keyof P]: P[K] extends { readonly type: infer T } ? IsText<T> : false;
}[keyof P]
  ? false
  : true;
type IsText<T> = string extends T ? true : false;

type ArgumentsObject<S, P> = Flat<
  { -readonly [K in PresentKeys<S, P>]: ArgumentValue<P[K]> } & {
    -readonly [K in Exclude<keyof P, PresentKeys<S, P>>]?: ArgumentValue<P[K]>;
  }
>;

/** Names of the members that are always present: required members, and members with a default. */
type PresentKeys<S, P> =
  | (S extends { readonly required: readonly (infer R)[] } ? Extract<keyof P, R> : never)
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type ArgumentValue<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer U)[] }
      ? ArgumentValue<U>
      : S extends { readonly oneOf: readonly (infer U)[] }
        ? ArgumentValue<U>
        : S extends { readonly type: readonly (infer T)[] }
          ? OfType<T, S>
          : S extends { readonly type: infer T }
            ? OfType<T, S>
            : unknown;

type OfType<T, S> = T extends "object"
  ? S extends { readonly properties: infer P }
    ? ArgumentsObject<S, P>
    : ModuleObject
  : T extends "array"
    ? S extends { readonly items: infer I }
      ? ArgumentValue<I>[]
      : unknown[]
    : T extends keyof Scalars
      ? Scalars[T]
      : unknown;

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type Flat<T> = { [K in keyof T]: T[K] } & {};
