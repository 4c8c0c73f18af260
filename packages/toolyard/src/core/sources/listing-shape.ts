/** Visibility of tools. `native` tools are listed in normal mode; `ondemand` tools are found only by search. */
export type Visibility = "native" | "ondemand";

/**
 * Check of arguments against a tool's input schema. `coerce`: text that is clearly a number or a boolean is converted,
 * if the schema has no other scalar type. `strict`: nothing is converted. `off`: the source gets the arguments
 * unchecked.
 */
export type ArgumentValidation = "coerce" | "strict" | "off";

/** Configured changes to a source's list. Names are those of the source. */
export interface ListingShape {
  /** Globs over original and new names. Empty: all tools. */
  readonly include: readonly string[];
  /** Globs over names that are excluded even if `include` matches. */
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  /** Descriptions that replace those of the source, by tool name. */
  readonly descriptions: Readonly<Record<string, string>>;
  /** Digest of each approved tool, by tool name. */
  readonly pins: Readonly<Record<string, string>>;
  /** Additional words by which search finds the tools. */
  readonly keywords: readonly string[];
  /** Visibility of the source's tools. Absent: as the source declares it. */
  readonly visibility?: Visibility;
  /** Maximum milliseconds without activity for a call, by tool name. */
  readonly toolTimeouts: Readonly<Record<string, number>>;
  /** True if tools that the source does not list can be called with its prefix. @default false */
  readonly unlisted?: boolean;
  readonly validation: ArgumentValidation;
  /** True if the instructions of the source's server are passed on. */
  readonly instructions: boolean;
}

/** Shape without changes: the list stays as its source returns it. */
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
