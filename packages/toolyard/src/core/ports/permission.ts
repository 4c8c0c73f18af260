/**
 * Limited rights. Patterns are globs over rendered names of tools and prompts, and over URIs. A pattern that begins
 * with a namespace matches only names of that namespace's source; a pattern over URIs is compared with scheme,
 * authority and path. `id::pattern` matches the tools, prompts and URIs of the source with this id, by their names in
 * that source.
 */
export interface NarrowRights {
  /** Absent: everything that is not denied. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** True to permit only tools that are read-only by annotation. @default false */
  readonly readOnly?: boolean;
  /** Globs over source ids. Absent: all sources. */
  readonly sources?: readonly string[];
  /** Patterns for tools, in addition to `allow`. Absent: `allow` decides. */
  readonly tools?: readonly string[];
  /** Patterns for prompts, in addition to `allow`. Absent: `allow` decides. */
  readonly prompts?: readonly string[];
  /** Patterns for resources and resource templates, in addition to `allow`. Absent: `allow` decides. */
  readonly resources?: readonly string[];
  /** Origin of these rights for explanations, such as `role reader`. It has no effect on the rights. */
  readonly origin?: string;
}

/** Object of a rights check. */
export type Subject = NamedSubject | UriSubject;

/** Tool or prompt. */
export interface NamedSubject {
  readonly type: "name";
  /** Name as callers see it. */
  readonly name: string;
  /** Name that callers would see if no other source had that name. */
  readonly ownName: string;
  /** Prefixes that the hub added to `name` or `ownName`, with the separator. */
  readonly prefixes: readonly string[];
  /** Prefixes of other sources with which the name begins. @default none */
  readonly looksLike?: readonly string[];
  /** Separator between a namespace and a name in this hub. */
  readonly separator: string;
  /** True if the tool changes nothing, by its annotations. Always true for prompts. */
  readonly isReadOnly: boolean;
  /** True for a discovery tool. It gives no access itself; its target is checked separately. */
  readonly isDiscovery: boolean;
  /**
   * True if no list contains the name, so that its server may read the name in another way than the hub. @default false
   */
  readonly isUnlisted?: boolean;
  /** Id of the source. Absent if it is not known. Rights that are limited to sources then do not permit the subject. */
  readonly source?: string;
  /** True for a prompt. @default false: a tool */
  readonly isPrompt?: boolean;
}

export interface UriSubject {
  readonly type: "uri";
  /** URI as callers see it. */
  readonly shown: string;
  /** URI as the source gets it. */
  readonly own: string;
  /** Prefix that distinguishes this source's URIs from all others (`alias+`), even if it is not shown. */
  readonly prefix: string;
  /**
   * True for a template, which is compared as text only: the rights of each resource that it leads to are checked
   * separately. @default false
   */
  readonly isTemplate?: boolean;
  /** Id of the source. Absent if it is not known. Rights that are limited to sources then do not permit the subject. */
  readonly source?: string;
}

/** Compiled rights of one caller. */
export interface Permission {
  /** Key of the rights. Equal rights have equal keys, whichever principal has them. */
  readonly key: string;
  /** True if this caller may not use everything. */
  readonly isNarrowed: boolean;
  permits(subject: Subject): boolean;
  /**
   * Returns true if a caller may learn whether a tool or prompt of this name exists. The result depends only on the
   * name, so that the response does not reveal whether it exists.
   */
  mayBeKnown(name: string, separator: string): boolean;
}
