import type { OptionSchema, Sections } from "../core/options/option-schema.ts";

/** The intersection of the members of a union. */
export type All<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** The sections of several parts: those of one name are joined, member by member. */
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
