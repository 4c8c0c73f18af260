import { DocumentError } from "../documents/document-error.ts";
import type { Library } from "../library.ts";

/** Name, in URIs and arguments, of the configured collection. */
export const OWN_COLLECTION = "default";

export interface CollectionsOptions {
  /** Configured collection, by its real name. */
  readonly own: string;
  /** Undefined opens that of the settings. Gives nothing where it is not there and must not be made. */
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

/** The libraries of one store, opened when they are first asked for. */
export class Collections implements AsyncDisposable {
  readonly #options: Required<CollectionsOptions>;
  readonly #opened = new Map<string, LibraryEntry>();

  constructor(options: CollectionsOptions) {
    this.#options = { most: 8, restMs: 300_000, ...options };
  }

  /** Names that are open, for suggestions. */
  get names(): readonly string[] {
    return [OWN_COLLECTION, ...Array.from(this.#opened.keys()).filter((name) => name !== OWN_COLLECTION)];
  }

  /** Rejects with `DOCUMENT_NOT_FOUND` if the collection does not exist and `mayMake` is false. */
  async open(collection = OWN_COLLECTION, mayMake = false): Promise<Library> {
    const name = collection === this.#options.own ? OWN_COLLECTION : collection;
    const known = this.#opened.get(name);
    if (!known) return this.#begin(name, mayMake);
    known.used = Date.now();
    // The earlier request may not have been allowed to create the collection.
    return mayMake ? known.library.catch(() => this.open(name, true)) : known.library;
  }

  /** Stored before the first await, so that concurrent requests share one library. */
  #begin(name: string, mayMake: boolean): Promise<Library> {
    const opened = { library: this.#openNow(name, mayMake), used: Date.now() };
    this.#opened.set(name, opened);
    // One that could not be opened is tried again by the next call.
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
      `There is no collection ${JSON.stringify(name)}. add_documents with that name makes it.`,
    );
  }

  /** Closes the one that rested longest, where there are too many. */
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
