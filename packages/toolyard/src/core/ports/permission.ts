/**
 * Patterns are globs over rendered names of tools and prompts, and over URIs. One that begins with a namespace means
 * the tools of that namespace's source; one over URIs judges scheme, authority and path. `id::pattern` means the tools,
 * prompts and URIs of the source with this id, under the names that they have there.
 */
export interface NarrowRights {
  /** Absent: all that is not denied. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** Only tools that are read-only by annotation. @default false */
  readonly readOnly?: boolean;
  /** Globs over ids of sources. Absent: all sources. */
  readonly sources?: readonly string[];
  /** Patterns for tools, in addition to `allow`. Absent: `allow` decides. */
  readonly tools?: readonly string[];
  /** The same for prompts. */
  readonly prompts?: readonly string[];
  /** The same for resources and resource templates. */
  readonly resources?: readonly string[];
  /** Where these rights come from, for explanations: `role reader`. It changes nothing. */
  readonly origin?: string;
}

/** Object of a rights check. */
export type Subject = NamedSubject | UriSubject;

/** A tool or a prompt. */
export interface NamedSubject {
  readonly type: "name";
  /** As it is shown. */
  readonly name: string;
  /** As it would be shown if no other source had that name. */
  readonly ownName: string;
  /** Prefixes that the hub put before the name, with the separator, in `name` or in `ownName`. */
  readonly prefixes: readonly string[];
  /** Prefixes of other sources that the name begins with. @default none */
  readonly looksLike?: readonly string[];
  /** Separator between a namespace and a name in this hub. */
  readonly separator: string;
  /** Changes nothing, by its annotations. Prompts never do. */
  readonly isReadOnly: boolean;
  /** Gives no access itself: its target is judged separately. */
  readonly isDiscovery: boolean;
  /** No list shows it, so its server may read the name in another way than the hub. @default false */
  readonly isUnlisted?: boolean;
  /** Id of its source. Absent: not known, so no rule about sources permits it. */
  readonly source?: string;
  /** @default a tool */
  readonly isPrompt?: boolean;
}

export interface UriSubject {
  readonly type: "uri";
  /** As callers see it. */
  readonly shown: string;
  /** As its source gets it. */
  readonly own: string;
  /** Distinguishes this source's URIs from all others (`alias+`), whether it is shown or not. */
  readonly prefix: string;
  /** A template, of which only the text is judged: a resource read by it is judged by itself. @default false */
  readonly isTemplate?: boolean;
  /** Id of its source. Absent: not known, so no rule about sources permits it. */
  readonly source?: string;
}

/** Compiled rights of one caller. */
export interface Permission {
  /** Equal rights have equal keys, independent of the holder. */
  readonly key: string;
  /** There is something that this caller may not use. */
  readonly isNarrowed: boolean;
  permits(subject: Subject): boolean;
  /**
   * Returns true if a caller may learn that no tool or prompt of this name exists. The name alone decides, so that the
   * answer is the same for what exists and for what does not.
   */
  mayBeKnown(name: string, separator: string): boolean;
}
