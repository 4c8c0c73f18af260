import { citationOf, linkTo, pageText } from "../search/cite.ts";
import type { NearestText, QuotePlace } from "../search/find-quote.ts";
import type { Hit } from "../search/search.ts";
import { SECTION_SEPARATOR, type Heading, type StoredDocument, type StoredPassage } from "../store/store.ts";

/** Returns a chunk as callers receive it. The similarity is 1 if there was no search. */
export function chunkResult(passage: StoredPassage, document: StoredDocument, hit?: Hit): object {
  const { sourceId, ordinal, section, pages, text } = passage;
  const label = pages && document.pageStarts[pages[0] - 1]?.label;
  return {
    text,
    ...similarityIn(hit),
    source_id: sourceId,
    canonical_reference: citationOf(document, pages),
    section_path: section.join(SECTION_SEPARATOR),
    ...(section[0] !== undefined && { chapter_title: section[0] }),
    work_title: document.work,
    work_author: document.author ?? "",
    order_index: ordinal,
    chunk_id: chunkId(sourceId, ordinal),
    ...(pages && { pages: [...pages] }),
    ...(label !== undefined && { page_label: label }),
    ...pageBreaks(passage, document),
    link: linkTo(document, pages),
    ...(hit && { score: hit.score }),
  };
}

/** Returns the similarity of a hit; omitted if it is unknown. */
function similarityIn(hit: Hit | undefined): object {
  if (!hit) return { similarity: 1 };
  return hit.similarity === undefined ? {} : { similarity: hit.similarity };
}

/** A hit with its document. */
export interface FoundPassage {
  readonly hit: Hit;
  readonly document: StoredDocument;
}

/**
 * Returns the answer of a search. Programs receive every field of a passage. The text for a model names each document
 * once and omits repeated fields: besides the passages, ten hits need 605 tokens instead of 1,096.
 */
export function searchAnswer(found: readonly FoundPassage[], answer: object): object {
  const full = found.map(({ hit, document }) => chunkResult(hit.passage, document, hit));
  const documents = new Map(found.map(({ document }) => [document.sourceId, documentReference(document)]));
  const compact = {
    results: found.map(compactResult),
    ...answer,
    ...(documents.size > 0 && { documents: Object.fromEntries(documents) }),
  };
  return {
    content: [{ type: "text", text: JSON.stringify(compact) }],
    structuredContent: { results: full, ...answer },
  };
}

function documentReference(document: StoredDocument): object {
  return { reference: citationOf(document), link: linkTo(document) };
}

/**
 * Returns a hit without redundant fields: the chunk id contains the source id and the order, and the work's title is
 * shown once.
 */
function compactResult({ hit, document }: FoundPassage): object {
  const { passage, score } = hit;
  const { sourceId, ordinal, section, pages, text } = passage;
  const own = section[0] === document.title ? section.slice(1) : section;
  return {
    text,
    ...similarityIn(hit),
    score,
    chunk_id: chunkId(sourceId, ordinal),
    work_author: document.author ?? "",
    work_title: document.work,
    ...(own.length > 0 && { section_path: own.join(SECTION_SEPARATOR) }),
    ...(pages && { page: pageText(document, pages) }),
    ...pageBreaks(passage, document),
  };
}

/** Returns a passage below the relevance of a hit, without its text. */
export function nearMissResult({ hit, document }: FoundPassage): object {
  const { passage, score } = hit;
  return {
    chunk_id: chunkId(passage.sourceId, passage.ordinal),
    canonical_reference: citationOf(document, passage.pages),
    section_path: passage.section.join(SECTION_SEPARATOR),
    score,
  };
}

/** Returns the offsets at which further pages begin in the text of a passage that spans several pages. */
function pageBreaks({ from, to, pages }: StoredPassage, { pageStarts }: StoredDocument): object {
  if (!pages || pages[0] === pages[1]) return {};
  const breaks = pageStarts.flatMap(({ offset }, at) =>
    offset > from && offset < to ? [{ page: at + 1, char: offset - from }] : [],
  );
  return breaks.length > 0 ? { page_breaks: breaks } : {};
}

/** Returns a place with the exact words of a quotation. */
export function placeResult({ document, from, to, pages, text }: QuotePlace): object {
  return {
    source_id: document.sourceId,
    citation: citationOf(document, pages),
    link: linkTo(document, pages),
    ...(pages && { pages: [...pages] }),
    char_from: from,
    char_to: to,
    text,
  };
}

/** Returns the text most similar to a quotation; `differences` lists the differences. */
export function nearestResult(nearest: NearestText): object {
  const { passage, similarity, differences } = nearest;
  return {
    ...placeResult(nearest),
    similarity: Math.round(similarity * 10_000) / 10_000,
    differences: differences.map((one) => ({ ...one })),
    section_path: passage.section.join(SECTION_SEPARATOR),
    chunk_id: chunkId(passage.sourceId, passage.ordinal),
  };
}

export function summaryResult({ passage, score, ...hit }: Omit<Hit, "cosine">, document: StoredDocument): object {
  const { text, section, level, concepts = [], sourceId } = passage;
  return {
    text,
    ...(hit.similarity !== undefined && { similarity: hit.similarity }),
    title: section.at(-1) ?? document.title,
    section_path: section.join(SECTION_SEPARATOR),
    level,
    concepts,
    document_source_id: sourceId,
    score,
  };
}

export function documentRow({ sourceId, work, author = "", pages, chunks, language = "" }: StoredDocument): object {
  return { source_id: sourceId, work_title: work, work_author: author, pages, chunks_count: chunks, language };
}

export function documentResult(document: StoredDocument): object {
  const { edition, toc, uri, title, year, origins, warnings } = document;
  const entries = toc.map(entryOf);
  return {
    ...documentRow(document),
    title,
    ...(year !== undefined && { year }),
    ...(edition !== undefined && { edition }),
    // Clients that use these names expect objects.
    toc: { entries },
    hierarchy: { sections: sectionsOf(entries) },
    uri,
    origins,
    warnings,
  };
}

interface OutlineEntry {
  readonly level: number;
  readonly title: string;
  readonly page?: number;
}

interface Section extends OutlineEntry {
  readonly sections: readonly Section[];
}

function entryOf({ level, title, page }: Heading): OutlineEntry {
  return { level, title, ...(page !== undefined && { page }) };
}

/** Returns the outline as a tree: each heading contains the lower headings that follow it. */
function sectionsOf(entries: readonly OutlineEntry[]): readonly Section[] {
  const top: (Section & { sections: Section[] })[] = [];
  const open: typeof top = [];
  for (const entry of entries) {
    const section = { ...entry, sections: [] };
    while (open.length > 0 && open.at(-1)!.level >= entry.level) open.pop();
    (open.at(-1)?.sections ?? top).push(section);
    open.push(section);
  }
  return top;
}

export function chunkId(sourceId: string, ordinal: number): string {
  return `${sourceId}#${ordinal}`;
}

/** Splits a chunk id into its parts. Returns undefined if the text is not a chunk id. */
export function readChunkId(id: string): { readonly sourceId: string; readonly ordinal: number } | undefined {
  const match = /^(.+)#(\d{1,7})$/s.exec(id);
  return match ? { sourceId: match[1]!, ordinal: Number(match[2]) } : undefined;
}
