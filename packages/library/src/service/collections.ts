import { DocumentError } from "../documents/document-error.ts";
import type { Library } from "../library.ts";

/** Name of the configured collection in URIs and arguments. */
export const OWN_COLLECTION = "default";

export interface CollectionsOptions {
  /** Real name of the configured collection. */
  readonly own: string;
  /**
   * Opens a collection; undefined opens the configured one. Returns undefined if it does not exist and `mayMake` is
   * false.
   */
  readonly open: (collection: string | undefined, mayMake: boolean) => Promise<Library | undefined>;
  /** Maximum number of open collections, not counting the configured one. @default 8 */
  readonly most?: number;
  /** A collection is closed when it was not used for this time. @default 300,000 */
  readonly restMs?: number;
}

interface LibraryEntry {
  readonly library: Promise<Library>;
  used: number;
}

/** The open collections of one store. Each is opened at its first use. */
export class Collections implements AsyncDisposable {
  readonly #options: Required<CollectionsOptions>;
  readonly #opened = new Map<string, LibraryEntry>();

  constructor(options: CollectionsOptions) {
    this.#options = { most: 8, restMs: 300_000, ...options };
  }

  /** Names of the open collections, for suggestions. */
  get names(): readonly string[] {
    return [OWN_COLLECTION, ...Array.from(this.#opened.keys()).filter((name) => name !== OWN_COLLECTION)];
  }

  /**
   * Returns the library of a collection. Rejects with `DOCUMENT_NOT_FOUND` if the collection does not exist and
   * `mayMake` is false.
   */
  async open(collection = OWN_COLLECTION, mayMake = false): Promise<Library> {
    const name = collection === this.#options.own ? OWN_COLLECTION : collection;
    const known = this.#opened.get(name);
    if (!known) return this.#begin(name, mayMake);
    known.used = Date.now();
    // The earlier request may not have been allowed to create the collection.
    return mayMake ? known.library.catch(() => this.open(name, true)) : known.library;
  }

  /**
   * Starts opening a collection. The promise is stored before the first await, so that concurrent requests share one
   * library.
   */
  #begin(name: string, mayMake: boolean): Promise<Library> {
    const opened = { library: this.#openNow(name, mayMake), used: Date.now() };
    this.#opened.set(name, opened);
    // If a collection could not be opened, the next call tries again.
    opened.library.catch(() => this.#opened.get(name) === opened && this.#opened.delete(name));
    return opened.library;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = Array.from(this.#opened.values());
    this.#opened.clear();
    for (const { library } of all) await (await library.catch(() => undefined))?.[Symbol.asyncDispose]();
  }

  async #openNow(name: string, mayMake: boolean): Promise<Library> {
    if (name !== OWN_COLLECTION) await this.#makeRoom(name);
    const library = await this.#options.open(name === OWN_COLLECTION ? undefined : name, mayMake);
    if (library) return library;
    throw new DocumentError(
      "DOCUMENT_NOT_FOUND",
      `There is no collection ${JSON.stringify(name)}. Call add_documents with that name to create it.`,
    );
  }

  /** Closes the collection that has been idle longest, if too many are open. Throws if all are in use. */
  async #makeRoom(wanted: string): Promise<void> {
    const others = Array.from(this.#opened).filter(([name]) => name !== OWN_COLLECTION && name !== wanted);
    if (others.length < this.#options.most) return;
    const since = Date.now() - this.#options.restMs;
    for (const [name, { library, used }] of others.toSorted(([, one], [, other]) => one.used - other.used)) {
      const own = await library.catch(() => undefined);
      if (used > since || own?.jobs.isBusy || !this.#opened.delete(name)) continue;
      return own?.[Symbol.asyncDispose]();
    }
    throw new DocumentError(
      "STORE_BUSY",
      `${this.#options.most} collections are in use, which is the limit. Try again when one of them is idle.`,
    );
  }
}
