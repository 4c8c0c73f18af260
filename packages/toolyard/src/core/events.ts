type EventHandler<T> = (event: T) => void;

/**
 * One kind of event with any number of listeners. An exception of one listener does not prevent calls of the others.
 */
export class Emitter<T> {
  readonly #listeners = new Set<EventHandler<T>>();
  /** Number of listeners. A field, because each call reads it; only this class sets it. */
  size = 0;

  /** Adds a listener. The returned function removes it. */
  on(listener: EventHandler<T>): () => void {
    this.#listeners.add(listener);
    this.size = this.#listeners.size;
    return () => {
      this.#listeners.delete(listener);
      this.size = this.#listeners.size;
    };
  }

  emit(event: T): void {
    for (const listener of Array.from(this.#listeners)) {
      try {
        listener(event);
      } catch (error) {
        // An exception of a listener must be reported, but must not interrupt the emitter.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
