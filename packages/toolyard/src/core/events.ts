type EventHandler<T> = (event: T) => void;

/**
 * One kind of event with any number of listeners. A listener that throws does not prevent the others from being called.
 */
export class Emitter<T> {
  readonly #listeners = new Set<EventHandler<T>>();

  /** Adds a listener until the returned function is called. */
  on(listener: EventHandler<T>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  emit(event: T): void {
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener(event);
      } catch (error) {
        // A listener's fault must not interrupt the emitter; it still must be reported.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  get size(): number {
    return this.#listeners.size;
  }
}
