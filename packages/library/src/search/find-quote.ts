import { pagesOf } from "../documents/assemble.ts";
import type { StoredDocument, StoredPassage } from "../store/store.ts";
import { alignQuote, type Alignment, type QuoteDifference } from "./align-quote.ts";
import { plainLetters } from "./plain-text.ts";
import { searchPassages, type SearchParts } from "./search.ts";
import { placesInSlices, type TextPlace, type TextPlacesRequest } from "./text-places.ts";

export interface QuotePlace {
  readonly document: StoredDocument;
  /** Start of the range in the document's text; `to` is its end. */
  readonly from: number;
  readonly to: number;
  readonly pages?: readonly [number, number];
  /** Text as in the document. */
  readonly text: string;
}

/** The text that resembles a quotation most. */
export interface NearestText extends QuotePlace {
  readonly passage: StoredPassage;
  /** Share of the quotation's words that the text has in the same order, from 0 to 1. */
  readonly similarity: number;
  /** The differences between the quotation and the text. */
  readonly differences: readonly QuoteDifference[];
}

export interface FoundQuote {
  /** All places with exactly these words. Typographic differences are ignored as in `plainLetters`. */
  readonly places: readonly QuotePlace[];
  /**
   * The most similar text, if the quotation was not found. Absent if no text contains enough of the quotation's words.
   */
  readonly nearest?: NearestText;
}

const MAX_PLACES = 20;
/** Maximum number of documents that are read if the store has no index of texts, the most likely first. */
const MAX_DOCUMENTS = 50;
/** Maximum number of passages that are compared with a quotation that was not found. */
const MAX_COMPARED = 8;
/** Minimum share of the quotation's words that a similar text contains. */
const MIN_SIMILARITY = 0.25;
/**
 * Maximum product of the words of quotation and text that are compared: a longer quotation is compared with fewer
 * passages.
 */
const MAX_COMPARISONS = 2_000_000;
/** Average length of a word with the following space, in characters. */
const WORD_LENGTH = 6;
/** Usual maximum length of a passage, in characters. */
const PASSAGE_LENGTH = 800;

export interface QuoteRequest {
  readonly quote: string;
  /** Restricts the search to this document. */
  readonly sourceId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Searches for the exact words of a quotation, so that models can check what they quote. Rejects with the signal's
 * reason if it is aborted.
 */
export async function findQuote(request: QuoteRequest, parts: SearchParts): Promise<FoundQuote> {
  const { quote, sourceId, signal } = request;
  const plain = plainLetters(quote).trim();
  if (plain === "") return { places: [] };
  const search = { plain, sourceId, most: MAX_PLACES };
  const { store } = parts;
  const found = store.textPlaces ? await store.textPlaces(search, signal) : await readThrough(search, request, parts);
  signal?.throwIfAborted();
  if (found.length > 0) return { places: await quotePlaces(found, parts) };
  const nearest = await nearestText(request, parts);
  return { places: [], ...(nearest && { nearest }) };
}

/** Adds the document, the pages and the text to each place. Each document is read once. */
async function quotePlaces(found: readonly TextPlace[], { store }: SearchParts): Promise<QuotePlace[]> {
  const places: QuotePlace[] = [];
  for (const source of new Set(found.map(({ sourceId }) => sourceId))) {
    const [document, text] = [await store.document(source), await store.textOf(source)];
    // Skips a document that was removed after the search.
    if (!document || text === undefined) continue;
    for (const { sourceId, from, to } of found)
      if (sourceId === source) places.push(placeOf({ document, text }, from, to));
  }
  return places;
}

function placeOf(
  { document, text }: { readonly document: StoredDocument; readonly text: string },
  from: number,
  to: number,
): QuotePlace {
  const pages = pagesOf(document.pageStarts, from, to);
  return { document, from, to, ...(pages && { pages }), text: text.slice(from, to) };
}

async function readThrough(
  search: TextPlacesRequest,
  { quote, sourceId, signal }: QuoteRequest,
  parts: SearchParts,
): Promise<TextPlace[]> {
  const likely = sourceId === undefined ? await similarPassages({ quote }, MAX_DOCUMENTS, parts) : [{ sourceId }];
  const found: TextPlace[] = [];
  for (const source of new Set(likely.map((one) => one.sourceId))) {
    signal?.throwIfAborted();
    const text = await parts.store.textOf(source);
    const own = text === undefined ? [] : await placesInSlices(text, search, signal);
    for (const [from, to] of own) found.push({ sourceId: source, from, to });
    if (found.length >= search.most) break;
  }
  return found.slice(0, search.most);
}

async function similarPassages(
  { quote, sourceId }: QuoteRequest,
  limit: number,
  parts: SearchParts,
): Promise<StoredPassage[]> {
  const document = sourceId === undefined ? undefined : await parts.store.document(sourceId);
  const filter = document ? { work: document.work } : {};
  const { hits } = await searchPassages("chunk", { query: quote, limit, filter, minSimilarity: 0 }, parts);
  return hits.map(({ passage }) => passage).filter((one) => sourceId === undefined || one.sourceId === sourceId);
}

async function nearestText(request: QuoteRequest, parts: SearchParts): Promise<NearestText | undefined> {
  const best = await mostSimilar(request, parts);
  const document = best && (await parts.store.document(best.passage.sourceId));
  if (!best || !document) return undefined;
  const { from, to, similarity, differences } = best.alignment;
  return { ...placeOf({ document, text: best.text }, from, to), passage: best.passage, similarity, differences };
}

interface SimilarText {
  readonly passage: StoredPassage;
  /** Text of the document. */
  readonly text: string;
  readonly alignment: Alignment;
}

/** Compares the quotation with the passages that contain most of its words, including the text around each passage. */
async function mostSimilar(request: QuoteRequest, parts: SearchParts): Promise<SimilarText | undefined> {
  const { quote, signal } = request;
  let best: SimilarText | undefined;
  for (const passage of await similarPassages(request, comparedPassages(quote), parts)) {
    signal?.throwIfAborted();
    const text = (await parts.store.textOf(passage.sourceId)) ?? "";
    const start = Math.max(0, passage.from - quote.length);
    const found = alignQuote(quote, text.slice(start, passage.to + quote.length));
    if (!found || found.similarity < MIN_SIMILARITY || found.similarity <= (best?.alignment.similarity ?? 0)) continue;
    best = { passage, text, alignment: { ...found, from: start + found.from, to: start + found.to } };
  }
  return best;
}

/** Returns the number of passages that are compared with a quotation of this length. */
function comparedPassages(quote: string): number {
  const [own, other] = [quote.length / WORD_LENGTH, (2 * quote.length + PASSAGE_LENGTH) / WORD_LENGTH];
  return Math.max(1, Math.min(MAX_COMPARED, Math.floor(MAX_COMPARISONS / (own * other + 1))));
}
