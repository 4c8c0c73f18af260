import { pagesOf } from "../documents/assemble.ts";
import type { StoredDocument, StoredPassage } from "../store/store.ts";
import { plainText } from "./plain-text.ts";
import { searchPassages, type SearchParts } from "./search.ts";

export interface QuotePlace {
  readonly document: StoredDocument;
  /** Place in the document's text. */
  readonly from: number;
  readonly to: number;
  readonly pages?: readonly [number, number];
  /** As it stands there. */
  readonly text: string;
}

export interface FoundQuote {
  /** Every place where it stands word for word; how it is set, `plainText` leaves aside. */
  readonly places: readonly QuotePlace[];
  /** Where it stands nowhere: the passage that comes nearest. */
  readonly nearest?: { readonly passage: StoredPassage; readonly document: StoredDocument };
}

const MAX_PLACES = 20;
/** Documents that are read through; a quotation's words lead to the likeliest first. */
const MAX_DOCUMENTS = 50;

/** Looks for the words of a quotation, so that nothing is quoted that nobody wrote. */
export async function findQuote(quote: string, sourceId: string | undefined, parts: SearchParts): Promise<FoundQuote> {
  const request = { query: quote, limit: MAX_DOCUMENTS, filter: {}, minSimilarity: 0 };
  const { hits } = await searchPassages("chunk", request, parts);
  const own = hits.filter(({ passage }) => sourceId === undefined || passage.sourceId === sourceId);
  const sources = sourceId === undefined ? new Set(own.map(({ passage }) => passage.sourceId)) : new Set([sourceId]);
  const places: QuotePlace[] = [];
  for (const source of sources) {
    const [document, text] = [await parts.store.document(source), await parts.store.textOf(source)];
    if (document && text !== undefined) places.push(...placesIn(document, text, quote));
    if (places.length >= MAX_PLACES) break;
  }
  if (places.length > 0) return { places: places.slice(0, MAX_PLACES) };
  const [best] = own;
  const document = best && (await parts.store.document(best.passage.sourceId));
  return { places, ...(best && document && { nearest: { passage: best.passage, document } }) };
}

function placesIn(document: StoredDocument, text: string, quote: string): QuotePlace[] {
  const plain = plainText(text);
  const wanted = plainText(quote).text.trim();
  const places: QuotePlace[] = [];
  if (wanted === "") return places;
  for (let at = plain.text.indexOf(wanted); at >= 0; at = plain.text.indexOf(wanted, at + 1)) {
    const [from, to] = [plain.starts[at]!, plain.ends[at + wanted.length - 1]!];
    const pages = pagesOf(document.pageStarts, from, to);
    places.push({ document, from, to, ...(pages && { pages }), text: text.slice(from, to) });
    if (places.length >= MAX_PLACES) break;
  }
  return places;
}
