import { join } from "node:path";
import { resolveSearch } from "../../catalog/search/options.ts";
import type { SemanticSearch } from "../../catalog/search/semantic/semantic-search.ts";
import { contentDigest } from "../../core/digest.ts";
import type { Logger } from "../../core/ports.ts";
import { VERSION } from "../../core/version.ts";
import { resolveModels } from "../../models/options.ts";
import type { OutboundClient } from "../../outbound/outbound-client.ts";
import type { HubConfig } from "../schema.ts";

export interface LiveSearchOptions {
  readonly config: () => HubConfig;
  /** Vendors' keys and proxy settings. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Where vectors are kept; absent: nowhere. */
  readonly folder?: string;
  readonly logger: Logger;
}

/**
 * Search by likeness as the configuration stands at each search. Nothing is loaded while no embedding model is
 * configured.
 */
export class LiveSearch {
  readonly #options: LiveSearchOptions;
  #client: OutboundClient | undefined;
  #key = "";
  #current: Promise<SemanticSearch> | undefined;

  constructor(options: LiveSearchOptions) {
    this.#options = options;
  }

  current(): Promise<SemanticSearch> | undefined {
    const { models, search } = this.#options.config();
    const key = models?.embedding === undefined ? "" : JSON.stringify([models, search]);
    if (key !== this.#key) {
      this.#key = key;
      void this.#end();
      if (key !== "") this.#current = this.#make();
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

  async #make(): Promise<SemanticSearch> {
    const { config, variables, folder, logger } = this.#options;
    const { models, search } = config();
    const options = resolveModels(models, variables);
    const [{ createEmbedder }, { OutboundClient }, { SemanticSearch }] = await Promise.all([
      import("../../models/embedder.ts"),
      import("../../outbound/outbound-client.ts"),
      import("../../catalog/search/semantic/semantic-search.ts"),
    ]);
    this.#client ??= new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment: variables });
    const embedder = createEmbedder(options.embedding!, options, this.#client);
    const file = folder === undefined ? undefined : join(folder, `${contentDigest(embedder.model)}.bin`);
    return new SemanticSearch({
      embedder,
      waitMs: resolveSearch(search).embeddingWaitMs,
      logger,
      ...(file !== undefined && { file }),
    });
  }
}
