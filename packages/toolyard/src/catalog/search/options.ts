import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

/** Schema of `[search]` in the configuration. */
export const SearchSchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Union([Type.Literal("auto"), Type.Literal("words"), Type.Literal("table")], {
        description:
          "Meaning used in addition to words. `table`: the vectors in the package. `words`: none. `auto`: the " +
          "model in `models.embedding` if it is set, else the table.",
        default: "auto",
      }),
    ),
    embedding_wait_ms: Type.Optional(
      Type.Integer({
        description:
          "Longest time that one search waits for vectors: of its query, where `models.embedding` is set, and of new " +
          "tools; after it the search does without.",
        default: 500,
        minimum: 1,
        maximum: 60_000,
      }),
    ),
  },
  { description: "Search for tools, by words and by meaning." },
);
export type SearchConfig = Static<typeof SearchSchema>;

export interface SearchOptions {
  readonly mode: "auto" | "words" | "table";
  readonly embeddingWaitMs: number;
}

export function resolveSearch(raw: SearchConfig = {}): SearchOptions {
  const { mode, embedding_wait_ms: embeddingWaitMs } = readOptions(SearchSchema, raw, "search.");
  return Object.freeze({ mode, embeddingWaitMs });
}
