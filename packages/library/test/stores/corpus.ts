import type { Embedder } from "../../src/search/embedder.ts";
import { Terms } from "../../src/search/terms.ts";
import type { DocumentFields, Filter, LibraryStore, PassageFields } from "../../src/store/store.ts";
import { createRandom, type Random } from "../../../../test/support/random.ts";

export const DIMENSIONS = 16;
const AUTHORS = ["Charles Sanders Peirce", "Peirce, Benjamin", "Simone Weil", "Émile Brontë", "Æthelstan Øre"];
const LANGUAGES = ["en", "fr", "de"];
const VOCABULARY = 600;

export const FILTERS: readonly Filter[] = [
  {},
  { author: "peirce" },
  { author: "Charles Sanders Peirce" },
  { author: "emile BRONTE" },
  { author: "nobody at all" },
  { work: "THE WORK NO. 3" },
  { language: "fr" },
  { author: "Peirce", language: "en" },
  { author: "Weil", language: "de", work: "the work no 7" },
];

export interface MadeDocument {
  readonly document: DocumentFields;
  readonly text: string;
  readonly chunks: readonly PassageFields[];
  readonly summaries: readonly PassageFields[];
}

/** Documents of artificial words, some much more common than others. The same seed gives the same documents. */
export async function madeDocuments(count: number, chunksEach: number, seed = 7): Promise<MadeDocument[]> {
  const random = createRandom(seed);
  const terms = new Terms();
  await terms.load(LANGUAGES);
  return Array.from({ length: count }, (_, at) => made(at, chunksEach, { random, terms }));
}

interface Making {
  readonly random: Random;
  readonly terms: Terms;
}

function made(at: number, chunksEach: number, { random, terms }: Making): MadeDocument {
  const author = AUTHORS[at % AUTHORS.length]!;
  const language = LANGUAGES[Math.floor(at / 2) % LANGUAGES.length]!;
  const title = `The Work no. ${at % 11}`;
  let text = "";
  const passage = (ordinal: number, level: number): PassageFields => {
    const own = wordsOf(random, 40).join(" ");
    const from = text.length;
    text += `${own}\n`;
    const words = terms.of(`${title} ${own}`, language);
    return {
      ordinal,
      section: [title, `Part ${Math.floor(ordinal / 4)}`],
      from,
      to: text.length - 1,
      pages: [ordinal + 1, ordinal + 1],
      text: own,
      terms: words.join(" "),
      length: words.length,
      level,
      ...(level > 0 && { concepts: ["ein Begriff", "a 'notion'"] }),
      ...(language === "en" && { vector: vectorOf(own) }),
    };
  };
  const chunks = Array.from({ length: chunksEach }, (_, ordinal) => passage(ordinal, 0));
  const summaries = [1, 2, 3].map((level, ordinal) => passage(ordinal, level));
  return { document: fieldsOf(at, { author, language, title, text }), text, chunks, summaries };
}

function fieldsOf(
  at: number,
  { author, language, title, text }: { author: string; language: string; title: string; text: string },
): DocumentFields {
  return {
    sourceId: `work_${at}`,
    uri: `file:///books/${at}.md`,
    contentHash: String(at).padStart(64, "0"),
    pipeline: "1",
    bytes: text.length,
    mime: "text/markdown",
    title,
    work: title,
    author,
    year: 1800 + at,
    language,
    pages: 1,
    pageStarts: [{ offset: 0, label: "i" }],
    toc: [{ level: 1, title, offset: 0 }],
    origins: { title: "caller" },
    warnings: [],
  };
}

/** Words by rank; every passage contains the first ones. */
export function wordsOf(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => `w${Math.floor(VOCABULARY ** (random.below(10_000) / 10_000))}`);
}

export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.split(" ")) {
    const random = createRandom(Number.parseInt(word.slice(1), 10) + 1);
    for (let at = 0; at < DIMENSIONS; at += 1) vector[at]! += random.below(1_001) / 1_000 - 0.5;
  }
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

/** Supports English only, like the embedder of the package. */
export const embedder: Embedder = {
  id: "made",
  dimensions: DIMENSIONS,
  languages: ["en"],
  embed: async (texts) => texts.map(vectorOf),
};

export async function fill(store: LibraryStore, documents: readonly MadeDocument[]): Promise<void> {
  for (const { document, text, chunks, summaries } of documents)
    await store.replaceDocument(document, text, { chunks, summaries, embedder: embedder.id });
}
