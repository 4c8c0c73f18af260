/** Object that loads its code with its first use, because most processes never use it. */
export class Late<T extends object> {
  /** The object, as soon as it is loaded. Reading it first avoids a wait. */
  made: T | undefined;
  readonly #load: () => Promise<T>;
  #loading: Promise<T> | undefined;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** Loads the object. All callers get the same one. If loading fails, the next caller tries again. */
  get(): Promise<T> {
    return (this.#loading ??= this.#start());
  }

  /** Runs `work` with the object now, or when its current loading ends. Does nothing if the object was never used. */
  whenMade(work: (made: T) => unknown): void {
    if (this.made) work(this.made);
    else void this.#loading?.then(work, () => {});
  }

  async #start(): Promise<T> {
    try {
      return (this.made = await this.#load());
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }
}
