import type { OptionSchema, Sections } from "../core/options/option-schema.ts";

/** Intersection of all members of a union type. */
export type All<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** Merges the sections of several parts. Sections with the same name are merged member by member. */
export function joinSections(parts: readonly { readonly schema: Sections }[]): Sections {
  return parts.reduce<Sections>((joined, { schema }) => join(joined, schema), {});
}

function join(base: Sections, more: Sections): Sections {
  const joined: Record<string, OptionSchema> = { ...base };
  for (const [name, schema] of Object.entries(more)) {
    const there = joined[name];
    joined[name] = there ? { ...there, properties: join(there.properties ?? {}, schema.properties ?? {}) } : schema;
  }
  return joined;
}
