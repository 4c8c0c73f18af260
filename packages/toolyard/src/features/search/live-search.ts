import { join } from "node:path";
import { resolveSearch, type SearchConfig } from "../../catalog/search/options.ts";
import type { EvidenceSource, TableSearch } from "../../catalog/search/likeness/table-search.ts";
import { contentDigest } from "../../core/json/digest.ts";
import type { TextEmbedder } from "../../core/ports/models.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { VERSION } from "../../core/version.ts";
import { resolveModels, type ModelsConfig } from "../../models/options.ts";
import type { OutboundClient } from "../../outbound/outbound-client.ts";

/** Sections of the configuration that search reads. */
export interface SearchReads {
  readonly models?: ModelsConfig;
  readonly search?: SearchConfig;
}

export interface LiveSearchOptions {
  readonly config: () => SearchReads;
  /** Environment variables with the vendors' API keys and the proxy settings. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Folder of stored vectors. Absent: vectors are not stored. */
  readonly folder?: string;
  readonly logger: Logger;
}

/**
 * Search evidence besides words, by the current configuration. No code is loaded before the first search. A model is
 * loaded only if one is configured.
 */
export class LiveSearch {
  readonly #options: LiveSearchOptions;
  #client: OutboundClient | undefined;
  #key = "";
  #current: Promise<EvidenceSource> | undefined;

  constructor(options: LiveSearchOptions) {
    this.#options = options;
  }

  current(): Promise<EvidenceSource> | undefined {
    const { models, search } = this.#options.config();
    const key = JSON.stringify([models, search]);
    if (key !== this.#key) {
      this.#key = key;
      void this.#end();
      const { mode } = resolveSearch(search);
      if (mode !== "words") this.#current = mode === "auto" && models?.embedding ? this.#byModel() : this.#byTable();
    }
    return this.#current;
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#client?.close();
  }

  async #end(): Promise<void> {
    const ended = this.#current;
    this.#current = undefined;
    await (await ended)?.close();
  }

  async #byTable(): Promise<TableSearch> {
    const { config, logger } = this.#options;
    const { TableSearch } = await import("../../catalog/search/likeness/table-search.ts");
    return new TableSearch({ load: loadTable, waitMs: resolveSearch(config().search).embeddingWaitMs, logger });
  }

  async #byModel(): Promise<EvidenceSource> {
    const { config, variables, folder, logger } = this.#options;
    const { models, search } = config();
    const options = resolveModels(models, variables);
    const [table, { createEmbedder }, { OutboundClient }, { SemanticSearch }] = await Promise.all([
      this.#byTable(),
      import("../../models/embedder.ts"),
      import("../../outbound/outbound-client.ts"),
      import("../../catalog/search/semantic/semantic-search.ts"),
    ]);
    this.#client ??= new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment: variables });
    const embedder = createEmbedder(options.embedding!, options, this.#client);
    const file = folder === undefined ? undefined : join(folder, `${contentDigest(embedder.model)}.bin`);
    return new SemanticSearch({
      embedder,
      table,
      waitMs: resolveSearch(search).embeddingWaitMs,
      logger,
      ...(file !== undefined && { file }),
    });
  }
}

async function loadTable(): Promise<TextEmbedder> {
  const { loadTokenTable } = await import("../../models/table/token-table.ts");
  return loadTokenTable();
}
