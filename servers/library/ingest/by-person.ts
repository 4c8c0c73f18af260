import { appendFile, mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Of the file; what comes after is added all the same, and not open to tools. */
const MAX_BYTES = 20_000_000;

/** Addresses of what a person added by hand, so that tools may read it again wherever it lies. */
export class ByPerson {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async has(uri: string): Promise<boolean> {
    return (await this.#uris()).has(uri);
  }

  async add(uri: string): Promise<void> {
    const { size } = await stat(this.#file).catch(() => ({ size: 0 }));
    if (size > MAX_BYTES || (await this.has(uri))) return;
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    // In front as well: the line before may have been cut by a sudden end, and would take this one with it.
    await appendFile(this.#file, `\n${JSON.stringify(uri)}\n`, { mode: 0o600 });
  }

  async #uris(): Promise<ReadonlySet<string>> {
    const text = await readFile(this.#file, "utf8").catch(() => "");
    return new Set(text.split("\n").flatMap((line) => uriIn(line) ?? []));
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
