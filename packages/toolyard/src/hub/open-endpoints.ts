interface OpenEndpointEntry {
  readonly kind: string;
  readonly isForAll: boolean;
}

/** Open endpoints of a hub. There may be several of one kind, for example while one replaces another. */
export class OpenEndpoints {
  readonly #endpoints = new Set<OpenEndpointEntry>();

  /** Kinds of the open endpoints, each once: `http`, `stdio`. */
  get kinds(): readonly string[] {
    return [...new Set(Array.from(this.#endpoints, ({ kind }) => kind))];
  }

  /** Returns true if an endpoint accepts calls from the network without authentication. */
  get isForAll(): boolean {
    return Array.from(this.#endpoints).some(({ isForAll }) => isForAll);
  }

  /** Registers an open endpoint. The returned function removes it. */
  opened(kind: string, isForAll = false): () => void {
    const endpoint = { kind, isForAll };
    this.#endpoints.add(endpoint);
    return () => void this.#endpoints.delete(endpoint);
  }
}
