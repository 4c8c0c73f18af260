import { appendFile, mkdir, open, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** Limit of the record in bytes. Documents beyond it are added, but tools may not be allowed to read them again. */
const MAX_BYTES = 20_000_000;
const LINE_FEED = 10;

/** Records the URIs of documents that a user added, so that tools may read them again from any folder. */
export class ByPerson {
  readonly #file: string;
  readonly #known = new Set<string>();
  /** Inode of the file that was read, and number of bytes read, which end with a complete line. */
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
    // The line also begins with a line feed: a crash may have truncated the line before it.
    await appendFile(this.#file, `\n${JSON.stringify(uri)}\n`, { mode: 0o600 });
  }

  /**
   * Reads the lines that this or other processes appended. Starts again if the file was replaced or has become shorter.
   */
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

/** Returns the URI of a line; undefined for a truncated line. */
function uriIn(line: string): string | undefined {
  try {
    const uri: unknown = JSON.parse(line);
    return typeof uri === "string" ? uri : undefined;
  } catch {
    return undefined;
  }
}
