import type { ObjectOf, Sections } from "../core/options/option-schema.ts";
import { BUILTIN } from "../providers/builtin/kind.ts";
import { DEFAULTS } from "../providers/defaults/kind.ts";
import { FOLDERS } from "../providers/folders/kind.ts";
import { HTTP } from "../providers/http/kind.ts";
import { MODULES } from "../providers/modules/kind.ts";
import { SCRIPTS } from "../providers/scripts/kind.ts";
import type { DefinedKind } from "../providers/source-kind.ts";
import { STDIO } from "../providers/stdio/kind.ts";
import { joinSections, type All } from "./sections.ts";

/** The one list of source kinds. A new kind is one more entry, and its row in `core/sources/provider-kinds.ts`. */
export const SOURCE_KINDS = [BUILTIN, MODULES, SCRIPTS, FOLDERS, STDIO, HTTP, DEFAULTS] as const;

type AnyKind = (typeof SOURCE_KINDS)[number];
type SectionsOf<K> = K extends { readonly schema: infer S } ? ObjectOf<S> : never;
type ServicesOf<K> = K extends DefinedKind<Sections, never, infer S> ? S : never;

/** The sections of the configuration that sources read, all kinds together. */
export type SourcesConfig = All<SectionsOf<AnyKind>>;
/** What the hub must have so that a source of any kind can be made. */
export type KindServices = All<ServicesOf<AnyKind>>;

/** Their schemas: sections of one name are joined, member by member. */
export function sourceSections(): Sections {
  return joinSections(SOURCE_KINDS);
}
