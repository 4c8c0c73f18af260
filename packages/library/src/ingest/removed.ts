import { readFile } from "node:fs/promises";
import { writeKept } from "./kept-file.ts";

const MAX_KEPT = 10_000;

/** Sources that users removed, so that watching a folder does not add them again. */
export class RemovedSources {
  readonly #file: string;
  /** Changes run in sequence, so that concurrent ones are not lost. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  async uris(): Promise<ReadonlySet<string>> {
    try {
      const uris: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      return new Set(Array.isArray(uris) ? uris.map(String) : []);
    } catch {
      return new Set();
    }
  }

  add(uri: string): Promise<void> {
    return this.#inTurn(async () => {
      const uris = await this.uris();
      if (!uris.has(uri)) await writeKept(this.#file, [...uris, uri].slice(-MAX_KEPT));
    });
  }

  delete(uri: string): Promise<void> {
    return this.#inTurn(async () => {
      const uris = new Set(await this.uris());
      if (uris.delete(uri)) await writeKept(this.#file, [...uris]);
    });
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const changed = this.#last.then(change);
    this.#last = changed.catch(() => {});
    return changed;
  }
}
