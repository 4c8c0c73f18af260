import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../../../files/write-whole.ts";
import { TableFullError, type AuthTable } from "../../../state/ports/auth-state.ts";

/** Values in one file each. Files are read on each use, because commands change them too. */
export class ClientFiles implements AuthTable {
  readonly #folder: string;
  readonly #most: number;

  /** `most` is the maximum number of files. */
  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  async get(name: string): Promise<string | undefined> {
    return readFile(this.#fileOf(name), "utf8").catch(() => undefined);
  }

  async all(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return Promise.all(names.map((name) => readFile(join(this.#folder, name), "utf8").catch(() => "")));
  }

  /** Rejects with the system's error if the file cannot be written. */
  async put(name: string, value: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if (!(await this.#has(name)) && (await readdir(this.#folder)).length >= this.#most)
      throw new TableFullError(`The folder has ${this.#most} files.`);
    await writeWhole(this.#fileOf(name), value);
  }

  async remove(name: string): Promise<boolean> {
    if (!(await this.#has(name))) return false;
    await rm(this.#fileOf(name), { force: true });
    return true;
  }

  #has(name: string): Promise<boolean> {
    return stat(this.#fileOf(name)).then(
      () => true,
      () => false,
    );
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}
