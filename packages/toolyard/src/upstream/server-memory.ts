/** Observed facts about a server, which are stored with its listing. Only the methods set the fields. */
export class ServerMemory {
  /** True if the server sends requests to its callers, so that calls of different clients must take turns. */
  asks = false;
  /** True if the server changed its lists after a call, so that a second process would offer other lists. */
  hasState = false;
  readonly #onChange: () => void;

  /** `onChange`: called when there are new facts to store. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  recall({ asks, hasState = false }: { readonly asks: boolean; readonly hasState?: boolean }): void {
    this.asks ||= asks;
    this.hasState ||= hasState;
  }

  /** Records that the server sends requests. Returns whether that is new. */
  noteAsks(): boolean {
    if (this.asks) return false;
    this.asks = true;
    this.#onChange();
    return true;
  }

  noteState(): void {
    if (this.hasState) return;
    this.hasState = true;
    this.#onChange();
  }
}
