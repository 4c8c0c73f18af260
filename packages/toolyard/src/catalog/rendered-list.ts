import { contentDigest } from "../core/json/digest.ts";
import type { RenderedList } from "../core/ports/hub-port.ts";
import type { JsonObject } from "../core/json/json.ts";

/** Row of a list: the entry and its JSON text. */
export interface ListRow {
  /** Rendered name, URI or template. */
  readonly key: string;
  readonly entry: JsonObject;
  readonly json: string;
}

export interface RowListFacts {
  /** True if the row is for some callers only. @default false */
  readonly isPrivate?: boolean;
  /** Number of announced changes. @default 0 */
  readonly announcements?: number;
}

/** List of rows. Text and version are computed when they are first needed. */
export class RowList implements RenderedList {
  readonly isPrivate: boolean;
  readonly announcements: number;
  readonly #rows: readonly ListRow[];
  #entries: readonly JsonObject[] | undefined;
  #json: string | undefined;
  #bytes: Buffer | undefined;
  #version: string | undefined;

  constructor(rows: readonly ListRow[], { isPrivate = false, announcements = 0 }: RowListFacts = {}) {
    this.#rows = rows;
    this.isPrivate = isPrivate;
    this.announcements = announcements;
  }

  get entries(): readonly JsonObject[] {
    return (this.#entries ??= this.#rows.map((row) => row.entry));
  }

  get json(): string {
    return (this.#json ??= `[${this.#rows.map((row) => row.json).join(",")}]`);
  }

  get bytes(): Buffer {
    return (this.#bytes ??= toBytes(this.json));
  }

  get version(): string {
    return (this.#version ??= contentDigest(this.json));
  }

  /** Returns true if both lists have the same version, without computing the versions. */
  equals(other: RowList): boolean {
    const [mine, theirs] = [this.#rows, other.#rows];
    return (
      mine.length === theirs.length && mine.every((row, at) => row === theirs[at] || row.json === theirs[at]!.json)
    );
  }
}

// ASCII text can be copied without encoding, which is faster.
function toBytes(text: string): Buffer {
  return Buffer.from(text, Buffer.byteLength(text) === text.length ? "latin1" : "utf8");
}
