import { Type, type Static } from "../../core/option-schema.ts";
import { readOptions } from "../../core/option-values.ts";

/** `[search]` of the configuration. */
export const SearchSchema = Type.Object(
  {
    embedding_wait_ms: Type.Optional(
      Type.Integer({
        description:
          "Longest time that one search waits for the embedding of its query, where `models.embedding` is " +
          "set; after it words alone decide.",
        default: 500,
        minimum: 1,
        maximum: 60_000,
      }),
    ),
  },
  { description: "How tools are found. With `models.embedding` they are found by what they mean, too." },
);
export type SearchConfig = Static<typeof SearchSchema>;

export interface SearchOptions {
  readonly embeddingWaitMs: number;
}

export function resolveSearch(raw: SearchConfig = {}): SearchOptions {
  const { embedding_wait_ms: embeddingWaitMs } = readOptions(SearchSchema, raw, "search.");
  return Object.freeze({ embeddingWaitMs });
}
