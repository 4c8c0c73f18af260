import { contentDigest } from "../core/digest.ts";
import type { RenderedList } from "../core/hub-port.ts";
import type { JsonObject } from "../core/json.ts";

/** One line of a list: the entry, and its JSON text made beforehand. */
export interface Row {
  /** Rendered name, URI or template. */
  readonly key: string;
  readonly entry: JsonObject;
  readonly json: string;
}

/** A list over rows. Text and version are made when somebody asks, and once. */
export class RowList implements RenderedList {
  readonly isPrivate: boolean;
  readonly #rows: readonly Row[];
  #entries: readonly JsonObject[] | undefined;
  #json: string | undefined;
  #bytes: Buffer | undefined;
  #version: string | undefined;

  constructor(rows: readonly Row[], isPrivate = false) {
    this.#rows = rows;
    this.isPrivate = isPrivate;
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

  /** The same as comparing versions, without making them. */
  equals(other: RowList): boolean {
    const [mine, theirs] = [this.#rows, other.#rows];
    return (
      mine.length === theirs.length && mine.every((row, at) => row === theirs[at] || row.json === theirs[at]!.json)
    );
  }
}

// Plain ASCII need not be encoded, only copied.
function toBytes(text: string): Buffer {
  return Buffer.from(text, Buffer.byteLength(text) === text.length ? "latin1" : "utf8");
}
