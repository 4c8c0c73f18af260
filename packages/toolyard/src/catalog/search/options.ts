import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";

/** Schema of `[search]` in the configuration. */
export const SearchSchema = Type.Object(
  {
    mode: Type.Optional(
      Type.Union([Type.Literal("auto"), Type.Literal("words"), Type.Literal("table")], {
        description:
          "Search by similarity in addition to words. `table`: with the vectors in the package. `words`: " +
          "off. `auto`: with the model in `models.embedding` if it is set, otherwise with the table.",
        default: "auto",
      }),
    ),
    embedding_wait_ms: Type.Optional(
      Type.Integer({
        description:
          "Maximum time that one search waits for the vectors of its query (if `models.embedding` is set) " +
          "and of new tools. After that, the search does without them.",
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
