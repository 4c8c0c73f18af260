import { DocumentError } from "../documents/document-error.ts";
import type { Library } from "../library.ts";

/** What stands in addresses and arguments for the collection that the settings name. */
export const OWN_COLLECTION = "default";

export interface CollectionsOptions {
  /** Of the settings, by its own name. */
  readonly own: string;
  /** Undefined opens that of the settings. Gives nothing where it is not there and must not be made. */
  readonly open: (collection: string | undefined, mayMake: boolean) => Promise<Library | undefined>;
  /** Open at a time, beside that of the settings. @default 8 */
  readonly most?: number;
  /** One that was asked for since is not closed: somebody may be at work in it. @default 300,000 */
  readonly restMs?: number;
}

interface Opened {
  readonly library: Promise<Library>;
  used: number;
}

/** The libraries of one store, opened when they are first asked for. */
export class Collections implements AsyncDisposable {
  readonly #options: Required<CollectionsOptions>;
  readonly #opened = new Map<string, Opened>();

  constructor(options: CollectionsOptions) {
    this.#options = { most: 8, restMs: 300_000, ...options };
  }

  /** Names that are open, for suggestions. */
  get names(): readonly string[] {
    return [OWN_COLLECTION, ...Array.from(this.#opened.keys()).filter((name) => name !== OWN_COLLECTION)];
  }

  /** Rejects with `DOCUMENT_NOT_FOUND` for a collection that nobody made, unless it may be made now. */
  async open(collection = OWN_COLLECTION, mayMake = false): Promise<Library> {
    const name = collection === this.#options.own ? OWN_COLLECTION : collection;
    const known = this.#opened.get(name);
    if (!known) return this.#begin(name, mayMake);
    known.used = Date.now();
    // Whoever asked before may not have wanted to make it.
    return mayMake ? known.library.catch(() => this.open(name, true)) : known.library;
  }

  /** Known at once, so that who asks meanwhile gets the same one. */
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
      `${this.#options.most} collections are at work already. Try again when one of them has rested.`,
    );
  }
}
