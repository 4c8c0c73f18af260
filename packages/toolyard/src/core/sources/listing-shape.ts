/** `native` tools are listed in normal mode; `ondemand` tools are found by search only. */
export type Visibility = "native" | "ondemand";

/**
 * How arguments are held against a tool's input schema. `coerce`: text that is plainly a number or a boolean is one,
 * where the schema has no other scalar type. `strict`: nothing is read otherwise. `off`: the source gets what came.
 */
export type ArgumentValidation = "coerce" | "strict" | "off";

/** What the configuration makes of a source's list. Names are those that the source gives. */
export interface ListingShape {
  /** Globs over names, given and new ones; empty for all. */
  readonly include: readonly string[];
  /** Wins over `include`. */
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  /** In place of the source's own. */
  readonly descriptions: Readonly<Record<string, string>>;
  /** The digest of each tool that somebody approved. */
  readonly pins: Readonly<Record<string, string>>;
  /** Further words by which the tools are found. */
  readonly keywords: readonly string[];
  /** Absent: as the source says. */
  readonly visibility?: Visibility;
  /** Milliseconds that a call of a tool may stay without a sign of life. */
  readonly toolTimeouts: Readonly<Record<string, number>>;
  /** Whether tools that the source does not list can be called with its prefix. @default false */
  readonly unlisted?: boolean;
  readonly validation: ArgumentValidation;
  /** Whether the source's own words on its use are handed on. */
  readonly instructions: boolean;
}

/** A list as its source gives it. */
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
