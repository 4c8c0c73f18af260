/** Maximum length of a cached text; longer texts are parsed each time. */
const MAX_KEPT_CHARS = 4096;

/**
 * Parser that caches its last result, for texts that usually equal the previous one. The results are shared and must
 * not be changed.
 */
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
