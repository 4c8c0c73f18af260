import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/option-schema.ts";

const DEFAULT_WAIT_MS = 500;
const MAX_WAIT_MS = 60_000;

/** `[search]` of the configuration. */
export const SearchSchema = Type.Object(
  {
    embedding_wait_ms: Type.Optional(
      Type.Integer({
        description:
          "Longest time that one search waits for the embedding of its query, where `models.embedding` is " +
          "set; after it words alone decide.",
        default: DEFAULT_WAIT_MS,
        minimum: 1,
        maximum: MAX_WAIT_MS,
      }),
    ),
  },
  { description: "How tools are found. With `models.embedding` they are found by what they mean, too." },
);
export type SearchConfig = Static<typeof SearchSchema>;

export interface SearchOptions {
  readonly embeddingWaitMs: number;
}

export function resolveSearch({ embedding_wait_ms = DEFAULT_WAIT_MS }: SearchConfig = {}): SearchOptions {
  if (!Number.isInteger(embedding_wait_ms) || embedding_wait_ms < 1 || embedding_wait_ms > MAX_WAIT_MS) {
    throw new OptionError(
      `\`search.embedding_wait_ms\` must be a whole number from 1 to ${MAX_WAIT_MS}, got ${String(embedding_wait_ms)}.`,
    );
  }
  return Object.freeze({ embeddingWaitMs: embedding_wait_ms });
}
