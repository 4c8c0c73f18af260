import { SearchSchema } from "../../catalog/search/options.ts";
import { Type } from "../../core/options/option-schema.ts";
import { DATA_FOLDERS, LOGGER, VARIABLES } from "../../core/services.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { LiveSearch, type SearchReads } from "./live-search.ts";

/** Feature: search by similarity and by a language model, in addition to words. */
export const SEARCH = defineFeature({
  name: "search",
  schema: { search: Type.Optional(SearchSchema) },
  uses: [VARIABLES, LOGGER, DATA_FOLDERS],
  start: ({ variables, logger, dataFolders: { embeddings } }, config: () => SearchReads) => {
    const search = new LiveSearch({
      config,
      variables,
      logger,
      ...(embeddings !== undefined && { folder: embeddings }),
    });
    return { evidence: () => search.current(), close: () => search.close() };
  },
});
