import { appendFile, mkdir, open, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** Limit of the record in bytes. Later documents are added, but tools may not read them again. */
const MAX_BYTES = 20_000_000;
const LINE_FEED = 10;

/** Addresses of what a person added by hand, so that tools may read it again wherever it lies. */
export class ByPerson {
  readonly #file: string;
  readonly #known = new Set<string>();
  /** Identifies the file that was read, and the number of bytes read: whole lines only. */
  #inode = 0;
  #read = 0;

  constructor(file: string) {
    this.#file = file;
  }

  async has(uri: string): Promise<boolean> {
    await this.#readOn();
    return this.#known.has(uri);
  }

  async add(uri: string): Promise<void> {
    const { size } = await stat(this.#file).catch(() => ({ size: 0 }));
    if (size > MAX_BYTES || (await this.has(uri))) return;
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    // In front as well: the line before may have been cut by a sudden end, and would take this one with it.
    await appendFile(this.#file, `\n${JSON.stringify(uri)}\n`, { mode: 0o600 });
  }

  /** Others add at the end, too. A file that has become shorter, or another one, is read from its beginning. */
  async #readOn(): Promise<void> {
    const handle = await open(this.#file).catch(() => undefined);
    if (!handle) return this.#beginAnew(0);
    try {
      const { size, ino } = await handle.stat();
      if (size < this.#read || ino !== this.#inode) this.#beginAnew(ino);
      await this.#take(handle, { from: this.#read, to: Math.min(size, 2 * MAX_BYTES) });
    } finally {
      await handle.close();
    }
  }

  #beginAnew(inode: number): void {
    this.#known.clear();
    this.#inode = inode;
    this.#read = 0;
  }

  async #take(handle: FileHandle, { from, to }: { readonly from: number; readonly to: number }): Promise<void> {
    if (to <= from) return;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
    const end = buffer.lastIndexOf(LINE_FEED, bytesRead - 1) + 1;
    for (const line of buffer.toString("utf8", 0, end).split("\n")) {
      const uri = uriIn(line);
      if (uri !== undefined) this.#known.add(uri);
    }
    this.#read = from + end;
  }
}

/** A line that was cut is none. */
function uriIn(line: string): string | undefined {
  try {
    const uri: unknown = JSON.parse(line);
    return typeof uri === "string" ? uri : undefined;
  } catch {
    return undefined;
  }
}
