interface OpenEndpointEntry {
  readonly kind: string;
  readonly isForAll: boolean;
}

/** The endpoints of a hub that are open. Several of one kind may be, as while one replaces another. */
export class OpenEndpoints {
  readonly #endpoints = new Set<OpenEndpointEntry>();

  /** Each kind once: `http`, `stdio`. */
  get kinds(): readonly string[] {
    return [...new Set(Array.from(this.#endpoints, ({ kind }) => kind))];
  }

  /** Returns whether one endpoint accepts calls from the network without authentication. */
  get isForAll(): boolean {
    return Array.from(this.#endpoints).some(({ isForAll }) => isForAll);
  }

  /** The endpoint is open until the returned function is called. */
  opened(kind: string, isForAll = false): () => void {
    const endpoint = { kind, isForAll };
    this.#endpoints.add(endpoint);
    return () => void this.#endpoints.delete(endpoint);
  }
}
