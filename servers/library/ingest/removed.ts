import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const MAX_KEPT = 10_000;

/** What somebody took out of the library, so that watching its folder does not bring it back. */
export class Removed {
  readonly #file: string;

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

  async add(uri: string): Promise<void> {
    const uris = await this.uris();
    if (!uris.has(uri)) await this.#save([...uris, uri].slice(-MAX_KEPT));
  }

  async delete(uri: string): Promise<void> {
    const uris = new Set(await this.uris());
    if (uris.delete(uri)) await this.#save([...uris]);
  }

  async #save(uris: readonly string[]): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    await writeFile(`${this.#file}.${process.pid}`, JSON.stringify(uris), { mode: 0o600 });
    await rename(`${this.#file}.${process.pid}`, this.#file);
  }
}
