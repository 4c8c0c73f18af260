import type { Embedder } from "../search/embedder.ts";
import { passageTerms } from "../search/passage-terms.ts";
import { searchPassages } from "../search/search.ts";
import { Terms } from "../search/terms.ts";
import { openSqliteStore } from "../store/sqlite/sqlite.ts";
import type { LibraryStore } from "../store/store.ts";
import type { BeirCollection, BeirDocument } from "./beir.ts";
import { ndcgAt10, recallAt10 } from "./ndcg.ts";

export interface Quality {
  readonly ndcg: number;
  readonly recall: number;
}

export interface EvaluationResult {
  readonly documents: number;
  readonly questions: number;
  readonly words: Quality;
  /** Quality by words and vectors. Absent if the embedder does not understand the language. */
  readonly meaning?: Quality;
}

export interface Evaluation {
  /** ISO 639-1 code of the language that selects the stemmer. */
  readonly language: string;
  readonly embedder?: Embedder | undefined;
  readonly signal: AbortSignal;
}

/**
 * Measures how well the relevant documents of a collection are found, by words alone and by words and vectors. Uses a
 * store in memory, with one passage per document.
 */
export async function evaluate(collection: BeirCollection, evaluation: Evaluation): Promise<EvaluationResult> {
  const { documents, questions } = collection;
  const { language, embedder, signal } = evaluation;
  await using store = await openSqliteStore(":memory:");
  const terms = new Terms();
  await terms.load([language]);
  for (const [at, document] of documents.entries()) {
    signal.throwIfAborted();
    await addOne(store, document, { ...evaluation, terms, sourceId: String(at) });
  }
  const ids = documents.map(({ id }) => id);
  const qualityOf = async (own: Embedder | undefined): Promise<Quality> => {
    const lists: string[][] = [];
    for (const { text } of questions) {
      signal.throwIfAborted();
      const request = { query: text, limit: 10, filter: {}, minSimilarity: 0 };
      const { hits } = await searchPassages("chunk", request, { store, terms, embedder: own });
      lists.push(hits.map(({ passage }) => ids[Number(passage.sourceId)]!));
    }
    return { ndcg: ndcgAt10(questions, lists), recall: recallAt10(questions, lists) };
  };
  return {
    documents: documents.length,
    questions: questions.length,
    words: await qualityOf(undefined),
    ...(embedder && { meaning: await qualityOf(embedder) }),
  };
}

interface EvaluationSource extends Evaluation {
  readonly terms: Terms;
  readonly sourceId: string;
}

async function addOne(store: LibraryStore, { title, text }: BeirDocument, adding: EvaluationSource): Promise<void> {
  const { terms, language, embedder, sourceId } = adding;
  const whole = `${title}\n${text}`;
  const indexed = passageTerms({ title, section: [], text }, { terms, language });
  const [vector] = embedder ? await embedder.embed([whole], "passage") : [];
  const chunk = {
    ordinal: 0,
    level: 0,
    section: [],
    from: 0,
    to: text.length,
    text,
    ...indexed,
    ...(vector && { vector }),
  };
  const document = {
    sourceId,
    uri: `beir:${sourceId}`,
    contentHash: sourceId,
    pipeline: "",
    bytes: text.length,
    mime: "text/plain",
    title,
    work: title,
    language,
    pages: 0,
    pageStarts: [],
    toc: [],
    origins: {},
    warnings: [],
  };
  await store.replaceDocument(document, text, {
    chunks: [chunk],
    summaries: [],
    ...(embedder && { embedder: embedder.id }),
  });
}
