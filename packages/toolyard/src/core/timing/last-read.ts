/** A text that is longer is read anew each time. */
const MAX_KEPT_CHARS = 4096;

/** Reads texts of which most are the same as the one before. What is made of them is shared: nobody changes it. */
export class LastRead<V> {
  readonly #read: (text: string) => V;
  #last: { readonly text: string; readonly value: V } | undefined;

  constructor(read: (text: string) => V) {
    this.#read = read;
  }

  of(text: string): V {
    if (this.#last?.text === text) return this.#last.value;
    const value = this.#read(text);
    this.#last = text.length <= MAX_KEPT_CHARS ? { text, value } : undefined;
    return value;
  }
}
