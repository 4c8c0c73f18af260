import { mkdir, readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { codeOf } from "../../../core/errors.ts";
import { withFileLock } from "../../../files/file-lock.ts";
import { writeWhole } from "../../../files/write-whole.ts";
import type { AuthText, StampedText } from "../../../state/ports/auth-state.ts";

/** Text in a file. Several processes of one machine may change it. */
export class AuthFile implements AuthText {
  readonly name: string;
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.name = `\`${basename(file)}\``;
  }

  /** Rejects with the system's error if the file exists and cannot be read. */
  async read(known?: string): Promise<StampedText | "same" | undefined> {
    const found = await stat(this.#file).catch(absent);
    if (!found) return undefined;
    const stamp = `${found.mtimeMs} ${found.size} ${found.ino}`;
    if (stamp === known) return "same";
    const text = await this.#readText();
    return text === undefined ? undefined : { stamp, text };
  }

  async change<T>(
    change: (text: string | undefined) => Promise<{ readonly text: string; readonly result: T }>,
  ): Promise<T> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    return withFileLock(`${this.#file}.lock`, async () => {
      const before = await this.#readText();
      const { text, result } = await change(before);
      if (text !== before) await writeWhole(this.#file, text);
      return result;
    });
  }

  #readText(): Promise<string | undefined> {
    return readFile(this.#file, "utf8").catch(absent);
  }
}

/** Returns `undefined` for a missing file. Throws every other error. */
function absent(error: unknown): undefined {
  if (codeOf(error) !== "ENOENT") throw error;
}
