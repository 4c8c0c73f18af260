/** Limits of one file. Content beyond a limit causes the diagnostic E008 instead of an exception. */
export const LIMITS = {
  /** Maximum length of a text, in UTF-16 code units. */
  characters: 16 * 1024 * 1024,
  models: 1000,
  /** Maximum nesting depth of brackets in a value. */
  depth: 32,
  /** Maximum length of a name, in characters. */
  nameLength: 256,
  dimensions: 16,
  /** Maximum number of edges of one connection between groups. */
  edgesOfConnection: 10_000,
  /** Maximum number of edges of one model. */
  edges: 200_000,
} as const;
