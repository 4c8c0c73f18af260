/** Bounds of one file. What goes beyond is a diagnostic with the code E008, not a failure of the reader. */
export const LIMITS = {
  /** Characters of a text, in UTF-16 code units. */
  characters: 16 * 1024 * 1024,
  models: 1000,
  /** Brackets within brackets of a value. */
  depth: 32,
  /** Characters of one name. */
  nameLength: 256,
  dimensions: 16,
  /** Edges of one connection between groups. */
  edgesOfConnection: 10_000,
  /** Edges of one model. */
  edges: 200_000,
} as const;
