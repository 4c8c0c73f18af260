import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseJsonObject } from "../../../core/json/json-object-text.ts";
import { stringMember } from "../../../core/json/json.ts";
import { writeWhole } from "../../../files/write-whole.ts";
import type { SettingsVersion } from "./settings-types.ts";

/** Number of earlier versions that are kept of each file. */
export const MAX_VERSIONS = 20;
/** Size of all kept versions of one file. Above it, the oldest versions are removed. */
const MAX_HISTORY_BYTES = 8_000_000;

export interface KeptVersion extends SettingsVersion {
  readonly text: string;
}

/**
 * Earlier versions of configuration files that the console has changed. They contain secrets, so only the user of the
 * hub can read them.
 */
export class FileHistory {
  readonly #folder: string;
  readonly #now: () => number;

  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Keeps the text that is about to be replaced, unless it is the newest version already. */
  async keep(file: string, text: string, by: string): Promise<void> {
    if ((await this.list(file))[0]?.text === text) return;
    const folder = this.#folderOf(file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = await this.#names(file);
    // Names are sorted by time. Two versions of one millisecond still have different names.
    const id = Math.max(this.#now(), ...names.map((name) => Number.parseInt(name, 10) + 1));
    await writeWhole(join(folder, `${id}.json`), JSON.stringify({ file, by, text }));
    await this.#removeOldest(file);
  }

  /** Returns the kept versions, newest first. */
  async list(file: string): Promise<readonly KeptVersion[]> {
    const read = (await this.#names(file)).map((name) => this.#read(file, name));
    return (await Promise.all(read)).filter((version) => version !== undefined).toReversed();
  }

  async #read(file: string, name: string): Promise<KeptVersion | undefined> {
    const content = await readFile(join(this.#folderOf(file), name), "utf8").catch(() => "");
    const found = parseJsonObject(content);
    const text = found && stringMember(found, "text");
    if (!found || text === undefined || found["file"] !== file) return undefined;
    const id = name.replace(".json", "");
    return { id, time: new Date(Number(id)).toISOString(), by: stringMember(found, "by") ?? "", text };
  }

  async #removeOldest(file: string): Promise<void> {
    const names = await this.#names(file);
    let bytes = 0;
    for (const [at, name] of names.toReversed().entries()) {
      const path = join(this.#folderOf(file), name);
      bytes += (await stat(path)).size;
      if (at >= MAX_VERSIONS || (at > 0 && bytes > MAX_HISTORY_BYTES)) await rm(path, { force: true });
    }
  }

  /** Returns the names of the kept versions, oldest first. */
  async #names(file: string): Promise<readonly string[]> {
    const names = await readdir(this.#folderOf(file)).catch(() => []);
    return names
      .filter((name) => /^\d{1,15}\.json$/.test(name))
      .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  }

  #folderOf(file: string): string {
    return join(this.#folder, createHash("sha256").update(file).digest("hex").slice(0, 32));
  }
}
