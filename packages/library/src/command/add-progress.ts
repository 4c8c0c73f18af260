import { basename } from "node:path";
import type { ProgressLine } from "./command-io.ts";
import type { Words } from "./words.ts";

/** Minimum elapsed time for an estimate of the remaining time. Earlier estimates vary too much. */
const MIN_TOLD_MS = 2_000;

/**
 * Progress of reading several documents: pages read of the current document and bytes read in total, each with the rate
 * and the estimated remaining time.
 */
export class AddProgress {
  readonly #sizes: readonly number[];
  readonly #words: Words;
  readonly #now: () => number;
  readonly #began: number;
  #at = -1;
  #name = "";
  #since: number;
  #page = 0;
  #pages = 0;
  #allPages = 0;

  /** @param sizes Size of each document in bytes; 0 if it is unknown. */
  constructor(sizes: readonly number[], words: Words, now: () => number = Date.now) {
    const known = sizes.filter((size) => size > 0);
    const mean = known.reduce((sum, size) => sum + size, 0) / known.length || 1;
    this.#sizes = sizes.map((size) => size || mean);
    this.#words = words;
    this.#now = now;
    this.#began = this.#since = now();
  }

  /** Starts counting the next document. */
  begin(source: string): void {
    this.#allPages += this.#page;
    this.#at += 1;
    this.#name = basename(source) || source;
    this.#since = this.#now();
    this.#page = this.#pages = 0;
  }

  page(done: number, total: number): void {
    this.#page = done;
    this.#pages = total;
  }

  lines(): readonly ProgressLine[] {
    const { reading, whole, ofAll } = this.#words;
    const part = this.#pages > 0 ? this.#page / this.#pages : 0;
    const own: ProgressLine = {
      name: this.#name,
      state: reading,
      since: this.#since,
      ...(this.#pages > 0 && { done: this.#page, total: this.#pages }),
      ...this.#note(part, this.#page, this.#since),
    };
    if (this.#sizes.length < 2) return [own];
    const before = this.#sizes.slice(0, Math.max(0, this.#at)).reduce((sum, size) => sum + size, 0);
    const all = this.#sizes.reduce((sum, size) => sum + size, 0);
    const done = (before + part * (this.#sizes[this.#at] ?? 0)) / all;
    const line = { name: whole, state: ofAll(this.#at, this.#sizes.length), since: this.#began, done, total: 1 };
    return [{ ...line, ...this.#note(done, this.#allPages + this.#page, this.#began) }, own];
  }

  #note(part: number, pages: number, since: number): { readonly note?: string } {
    const ms = this.#now() - since;
    if (ms < MIN_TOLD_MS || part <= 0) return {};
    const { rate, left } = this.#words;
    const told = [
      ...(pages > 0 ? [rate(amount((pages * 1_000) / ms))] : []),
      ...(part < 1 ? [left(time((ms / part) * (1 - part)))] : []),
    ];
    return { note: told.join(", ") };
  }
}

function amount(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

/** Formats an estimated time in whole seconds, in minutes above two minutes, and in hours above two hours. */
function time(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
