import { setImmediate as nextTurn } from "node:timers/promises";
import { QuoteSearch } from "./quote-search.ts";

/** Position of a quotation: a range in the text of a document. */
export interface TextPlace {
  readonly sourceId: string;
  readonly from: number;
  readonly to: number;
}

export interface TextPlacesRequest {
  /** The quotation, normalised by `plainLetters` and without spaces around it. */
  readonly plain: string;
  /** Restricts the search to this document. Absent: all documents. */
  readonly sourceId?: string | undefined;
  /** Maximum number of places to return. */
  readonly most: number;
}

/** Maximum time that a search blocks the event loop, in milliseconds. */
const SLICE_MS = 8;
/** Number of pieces between two checks of the clock. A piece has at most a few thousand characters. */
const PIECES_PER_LOOK = 20;

/** Returns the positions of a normalised quotation in one text. Blocks the thread. */
export function placesIn(text: string, { plain, most }: TextPlacesRequest): [from: number, to: number][] {
  const places: [number, number][] = [];
  for (const place of new QuoteSearch(plain).placesIn(text)) {
    if (place) places.push([place[0], place[1]]);
    if (places.length >= most) break;
  }
  return places;
}

/** Returns the same positions without blocking the event loop. Rejects with the signal's reason if it is aborted. */
export async function placesInSlices(
  text: string,
  { plain, most }: TextPlacesRequest,
  signal?: AbortSignal,
): Promise<[from: number, to: number][]> {
  const places: [number, number][] = [];
  let pieces = 0;
  let endsAt = performance.now() + SLICE_MS;
  for (const place of new QuoteSearch(plain).placesIn(text)) {
    if (place) places.push([place[0], place[1]]);
    if (places.length >= most) break;
    if (place || (pieces += 1) % PIECES_PER_LOOK !== 0 || performance.now() <= endsAt) continue;
    await nextTurn();
    signal?.throwIfAborted();
    endsAt = performance.now() + SLICE_MS;
  }
  return places;
}
