import { setImmediate as nextTurn } from "node:timers/promises";
import { pagesOf } from "../documents/assemble.ts";
import type { StoredDocument, StoredPassage } from "../store/store.ts";
import { QuoteSearch } from "./quote-search.ts";
import { searchPassages, type SearchParts } from "./search.ts";

export interface QuotePlace {
  readonly document: StoredDocument;
  /** Place in the document's text. */
  readonly from: number;
  readonly to: number;
  readonly pages?: readonly [number, number];
  /** Text as in the document. */
  readonly text: string;
}

export interface FoundQuote {
  /** Every place with exactly these words. Differences of typesetting are ignored as in `plainText`. */
  readonly places: readonly QuotePlace[];
  /** If the quotation was not found: the most similar passage. */
  readonly nearest?: { readonly passage: StoredPassage; readonly document: StoredDocument };
}

const MAX_PLACES = 20;
/** Documents that are read through; a quotation's words lead to the likeliest first. */
const MAX_DOCUMENTS = 50;

/** How long the search holds the event loop at a stretch, in milliseconds. */
const SLICE_MS = 8;
/** Pieces of text between two looks at the clock; one is a word or so. */
const PIECES_PER_LOOK = 200;

export interface QuoteRequest {
  readonly quote: string;
  /** The only document that is read through. */
  readonly sourceId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Searches for the exact words of a quotation, so that models can check what they quote. The search yields to other
 * requests. Rejects with the signal's reason if it is aborted.
 */
export async function findQuote({ quote, sourceId, signal }: QuoteRequest, parts: SearchParts): Promise<FoundQuote> {
  const request = { query: quote, limit: MAX_DOCUMENTS, filter: {}, minSimilarity: 0 };
  const { hits } = await searchPassages("chunk", request, parts);
  const own = hits.filter(({ passage }) => sourceId === undefined || passage.sourceId === sourceId);
  const sources = sourceId === undefined ? new Set(own.map(({ passage }) => passage.sourceId)) : new Set([sourceId]);
  const search = new QuoteSearch(quote);
  const places: QuotePlace[] = [];
  for (const source of sources) {
    signal?.throwIfAborted();
    const [document, text] = [await parts.store.document(source), await parts.store.textOf(source)];
    if (document && text !== undefined) places.push(...(await placesIn({ document, text }, search, signal)));
    if (places.length >= MAX_PLACES) break;
  }
  if (places.length > 0) return { places: places.slice(0, MAX_PLACES) };
  const [best] = own;
  const document = best && (await parts.store.document(best.passage.sourceId));
  return { places, ...(best && document && { nearest: { passage: best.passage, document } }) };
}

async function placesIn(
  { document, text }: { readonly document: StoredDocument; readonly text: string },
  search: QuoteSearch,
  signal: AbortSignal | undefined,
): Promise<QuotePlace[]> {
  const places: QuotePlace[] = [];
  let pieces = 0;
  let endsAt = performance.now() + SLICE_MS;
  for (const place of search.placesIn(text)) {
    if (place) {
      const [from, to] = place;
      const pages = pagesOf(document.pageStarts, from, to);
      places.push({ document, from, to, ...(pages && { pages }), text: text.slice(from, to) });
      if (places.length >= MAX_PLACES) break;
    } else if ((pieces += 1) % PIECES_PER_LOOK === 0 && performance.now() > endsAt) {
      await nextTurn();
      signal?.throwIfAborted();
      endsAt = performance.now() + SLICE_MS;
    }
  }
  return places;
}
