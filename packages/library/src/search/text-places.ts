import { setImmediate as nextTurn } from "node:timers/promises";
import { QuoteSearch } from "./quote-search.ts";

/** A place of a quotation: a range in the text of a document. */
export interface TextPlace {
  readonly sourceId: string;
  readonly from: number;
  readonly to: number;
}

export interface TextPlacesRequest {
  /** The quotation, normalised by `plainLetters` and without spaces around it. */
  readonly plain: string;
  /** The only document that is searched. Absent: all. */
  readonly sourceId?: string | undefined;
  /** Maximum number of places to return. */
  readonly most: number;
}

/** How long a search holds the event loop at a stretch, in milliseconds. */
const SLICE_MS = 8;
/** Pieces of text between two looks at the clock; one has at most some thousand characters. */
const PIECES_PER_LOOK = 20;

/** Returns the places of a normalised quotation in one text. Blocks the thread. */
export function placesIn(text: string, { plain, most }: TextPlacesRequest): [from: number, to: number][] {
  const places: [number, number][] = [];
  for (const place of new QuoteSearch(plain).placesIn(text)) {
    if (place) places.push([place[0], place[1]]);
    if (places.length >= most) break;
  }
  return places;
}

/** Does the same on an event loop that other work shares. Rejects with the signal's reason if it is aborted. */
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
