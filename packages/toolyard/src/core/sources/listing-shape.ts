/** `native` tools are listed in normal mode; `ondemand` tools are found only by search. */
export type Visibility = "native" | "ondemand";

/**
 * How arguments are checked against a tool's input schema. `coerce`: text that is clearly a number or a boolean is
 * converted, if the schema has no other scalar type. `strict`: nothing is converted. `off`: the source gets them
 * unchecked.
 */
export type ArgumentValidation = "coerce" | "strict" | "off";

/** Configured changes to a source's list. Names are the source's own. */
export interface ListingShape {
  /** Globs over names, original and new ones; empty for all. */
  readonly include: readonly string[];
  /** Overrides `include`. */
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  /** Replacements of the source's own. */
  readonly descriptions: Readonly<Record<string, string>>;
  /** The digest of each approved tool. */
  readonly pins: Readonly<Record<string, string>>;
  /** Further words by which the tools are found. */
  readonly keywords: readonly string[];
  /** Absent: as the source declares. */
  readonly visibility?: Visibility;
  /** Milliseconds without activity after which a call of a tool ends. */
  readonly toolTimeouts: Readonly<Record<string, number>>;
  /** True if tools that the source does not list can be called with its prefix. @default false */
  readonly unlisted?: boolean;
  readonly validation: ArgumentValidation;
  /** True if the source's own usage text is passed on. */
  readonly instructions: boolean;
}

/** No changes: the list as its source returns it. */
export const NO_SHAPE: ListingShape = Object.freeze({
  include: [],
  exclude: [],
  rename: {},
  descriptions: {},
  pins: {},
  keywords: [],
  toolTimeouts: {},
  validation: "coerce",
  instructions: true,
});
