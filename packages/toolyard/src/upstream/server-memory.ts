/** Observations of a server that are stored with its listing. */
export class ServerMemory {
  #asks = false;
  #hasState = false;
  readonly #onChange: () => void;

  /** `onChange` is called when there is more to store. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The server sends requests to its callers, so calls of different clients take turns on it. */
  get asks(): boolean {
    return this.#asks;
  }

  /** The server changed its lists after a call, so a second process would offer other lists. */
  get hasState(): boolean {
    return this.#hasState;
  }

  recall({ asks, hasState = false }: { readonly asks: boolean; readonly hasState?: boolean }): void {
    this.#asks ||= asks;
    this.#hasState ||= hasState;
  }

  /** Returns whether that was not known before. */
  noteAsks(): boolean {
    if (this.#asks) return false;
    this.#asks = true;
    this.#onChange();
    return true;
  }

  noteState(): void {
    if (this.#hasState) return;
    this.#hasState = true;
    this.#onChange();
  }
}
