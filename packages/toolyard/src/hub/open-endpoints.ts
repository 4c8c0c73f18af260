interface OpenEndpointEntry {
  readonly kind: string;
  readonly isForAll: boolean;
}

/** The doors of a hub that are open. Several of one kind may be, as while one replaces another. */
export class OpenEndpoints {
  readonly #doors = new Set<OpenEndpointEntry>();

  /** Each kind once: `http`, `stdio`. */
  get kinds(): readonly string[] {
    return [...new Set(Array.from(this.#doors, ({ kind }) => kind))];
  }

  /** Returns whether one of them accepts calls from the network without authentication. */
  get isForAll(): boolean {
    return Array.from(this.#doors).some(({ isForAll }) => isForAll);
  }

  /** The door is open until the returned function is called. */
  opened(kind: string, isForAll = false): () => void {
    const door = { kind, isForAll };
    this.#doors.add(door);
    return () => void this.#doors.delete(door);
  }
}
