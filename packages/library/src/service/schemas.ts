/**
 * Filters of a search. Null and an empty text mean no filter: models send them for parameters that they do not use.
 */
export interface Filters {
  readonly author_filter?: string | null;
  readonly work_filter?: string | null;
  readonly language_filter?: string | null;
}

export const FILTERS = {
  author_filter: {
    type: "string",
    default: null,
    description:
      "Limits the results to works by this author, in any form of the name: Peirce; C. S. Peirce; " +
      "Peirce, Charles Sanders.",
  },
  work_filter: {
    type: "string",
    default: null,
    description: "Limits the results to works whose title contains these words.",
  },
  language_filter: {
    type: "string",
    default: null,
    description: "Limits the results to works in this language: en, fr.",
  },
};

export const SOURCE_ID = {
  type: "string",
  minLength: 1,
  description: "Id of the document, from a list or a search.",
};

export const QUERY = {
  type: "string",
  minLength: 1,
  maxLength: 1_000,
  description: "Question or words to search for.",
};

export function limit(most: number, by: number): object {
  return { type: "integer", minimum: 1, maximum: most, default: by };
}

export const OFFSET = { type: "integer", minimum: 0, default: 0 };

/** Selects a collection of the store. */
export interface InCollection {
  readonly collection?: string;
}

const COLLECTION = {
  type: "string",
  pattern: "^[a-z][a-z0-9_]{0,30}$",
  description: "Name of a collection of documents. Omitted: the configured collection.",
};

/** Adds the `collection` parameter to a tool's own parameters. */
export function input(properties: object, required: readonly string[] = []): object {
  return {
    type: "object",
    properties: { ...properties, collection: COLLECTION },
    required,
    additionalProperties: false,
  };
}

export const READS = { readOnlyHint: true, openWorldHint: false };
