import { DocumentError } from "../documents/document-error.ts";
import type { DoctorFinding } from "../moves/doctor.ts";
import type { CommandIo } from "./command-io.ts";

export type Status =
  | "added"
  | "updated"
  | "unchanged"
  | "failed"
  | "removed"
  | "reindexed"
  | "exported"
  | "imported"
  | "moved"
  | "compared"
  | "different"
  | "wrong"
  | "saved";

/** Texts of the commands for users. Programs read `--json`, which is always English. */
export interface Words {
  readonly pages: (count: number) => string;
  readonly passages: (count: number) => string;
  readonly documents: (count: number) => string;
  readonly status: Readonly<Record<Status, string>>;
  /** Reason why a document was not read. */
  readonly failure: (error: DocumentError) => string;
  /** Warnings about a document. They are stored in English, which programs read. */
  readonly warning: (text: string) => string;
  readonly noFile: string;
  readonly noAnswer: (query: string) => string;
  readonly noDocument: (id: string) => string;
  readonly empty: string;
  readonly more: (count: number) => string;
  /**
   * Words of the progress display: the line for the whole command, and the states of a document and of the command.
   */
  readonly whole: string;
  readonly reading: string;
  readonly ofAll: (done: number, total: number) => string;
  readonly rate: (pagesPerSecond: string) => string;
  readonly left: (time: string) => string;
  readonly watching: (folders: string) => string;
  readonly watchedElsewhere: string;
  readonly moves: MoveWords;
  readonly measures: MeasureWords;
}

/** Texts of commands that measure. */
export interface MeasureWords {
  readonly held: (documents: string, questions: number) => string;
  readonly byWords: string;
  readonly byMeaning: string;
  readonly quality: (ndcg: string, recall: string) => string;
  /** Durations in milliseconds. */
  readonly openedIn: (time: string) => string;
  readonly times: (questions: number, times: Readonly<Record<"first" | "median" | "most", string>>) => string;
  readonly memory: (megabytes: string) => string;
}

/** Texts of commands for the whole library. */
export interface MoveWords {
  readonly to: (what: string, place: string) => string;
  /** Number of moved documents, number of those that the target already had, and the target. */
  readonly moved: (documents: string, unchanged: number, place: string) => string;
  readonly same: (equal: number, questions: number) => string;
  readonly stays: string;
  readonly vectors: (embedder: string | undefined) => string;
  readonly finding: (finding: DoctorFinding) => string;
  readonly mends: string;
  readonly well: string;
  readonly at: (engine: string, place: string) => string;
  readonly languages: string;
  readonly unknown: string;
  readonly byAuthor: Readonly<Record<"pages" | "passages", string>>;
  readonly byYear: Readonly<Record<"pages" | "passages", string>>;
  readonly moreAuthors: (count: number) => string;
  /** Advice about documents that another version read. */
  readonly outdated: (documents: string) => string;
  readonly ofCollection: (collection: string, documents: string) => string;
  readonly current: string;
}

const counted = (one: string, many = `${one}s`, isOne = (count: number): boolean => count === 1) => {
  return (count: number): string => `${count} ${isOne(count) ? one : many}`;
};

const ENGLISH: Words = {
  pages: counted("page"),
  passages: counted("passage"),
  documents: counted("document"),
  status: {
    added: "added",
    updated: "updated",
    unchanged: "unchanged",
    failed: "failed",
    removed: "removed",
    reindexed: "reindexed",
    exported: "exported",
    imported: "imported",
    moved: "moved",
    compared: "compared",
    different: "different",
    wrong: "wrong",
    saved: "saved",
  },
  failure: ({ message }) => message,
  warning: (text) => text,
  noFile: "There is no file here that can be read.",
  noAnswer: (query) => `Nothing in the library answers ${JSON.stringify(query)}.`,
  noDocument: (id) => `There is no document ${JSON.stringify(id)} in the library.`,
  empty: "The library is empty. Add files: toolyard library add FILE…",
  more: (count) => `${count} more: raise --limit.`,
  whole: "all",
  reading: "reading",
  ofAll: (done, total) => `${done} of ${total}`,
  rate: (pagesPerSecond) => `${pagesPerSecond} pages/s`,
  left: (time) => `${time} left`,
  watching: (folders) => `Watching ${folders}. Press Ctrl-C to stop.`,
  watchedElsewhere: "Another program already watches; this one takes over when it exits. Ctrl-C stops it.",
  measures: {
    held: (documents, questions) => `${documents}, ${counted("question")(questions)}`,
    byWords: "words alone",
    byMeaning: "words and meaning",
    quality: (ndcg, recall) => `nDCG@10 ${ndcg}, recall@10 ${recall}`,
    openedIn: (time) => `opened in ${time} ms`,
    times: (questions, { first, median, most }) =>
      `${counted("question")(questions)}: the first ${first} ms, then ${median} ms, 99 of 100 at most ${most} ms`,
    memory: (megabytes) => `${megabytes} MB resident`,
  },
  moves: {
    to: (what, place) => `${what} to ${place}`,
    moved: (documents, unchanged, place) =>
      `${documents}${unchanged > 0 ? `, ${unchanged} already there` : ""}, to ${place}`,
    same: (equal, questions) => `${equal} of ${counted("question")(questions)} have the same results in both`,
    stays: "This library is unchanged. To use the new one, set `store` in [library], or LIBRARY_STORE.",
    vectors: (embedder) => (embedder === undefined ? "no vectors" : `vectors of ${embedder}`),
    finding: ({ what }) => what,
    mends: "Run `toolyard library doctor --repair` to fix the findings that can be fixed.",
    well: "No fault was found.",
    at: (engine, place) => `${engine} at ${place}`,
    languages: "languages:",
    unknown: "unknown",
    byAuthor: { pages: "pages by author", passages: "passages by author" },
    byYear: { pages: "pages by year", passages: "passages by year" },
    moreAuthors: (count) => `and ${counted("more author")(count)}`,
    outdated: (documents) =>
      `Another version of the library read ${documents}. To read the files again: toolyard library renew`,
    ofCollection: (collection, documents) => `collection ${collection}: ${documents} read by another version`,
    current: "This version of the library read all documents.",
  },
};

/** In French, zero takes the singular too. */
const isFew = (count: number): boolean => count < 2;

const FRENCH: Words = {
  pages: counted("page", "pages", isFew),
  passages: counted("passage", "passages", isFew),
  documents: counted("document", "documents", isFew),
  status: {
    added: "ajouté",
    updated: "mis à jour",
    unchanged: "inchangé",
    failed: "échec",
    removed: "retiré",
    reindexed: "réindexé",
    exported: "exporté",
    imported: "importé",
    moved: "déplacé",
    compared: "comparé",
    different: "différent",
    wrong: "anomalie",
    saved: "enregistré",
  },
  failure: frenchFailure,
  warning: frenchWarning,
  noFile: "Il n’y a ici aucun fichier qui puisse être lu.",
  noAnswer: (query) => `Rien dans la bibliothèque ne répond à « ${query} ».`,
  noDocument: (id) => `Il n’y a pas de document « ${id} » dans la bibliothèque.`,
  empty: "La bibliothèque est vide. Ajoutez des fichiers : toolyard library add FICHIER…",
  more: (count) => `encore ${count} : augmentez --limit.`,
  whole: "tout",
  reading: "lecture",
  ofAll: (done, total) => `${done} sur ${total}`,
  rate: (pagesPerSecond) => `${pagesPerSecond.replace(".", ",")} pages/s`,
  left: (time) => `reste ${time}`,
  watching: (folders) => `${folders} : surveillé. Ctrl-C y met fin.`,
  watchedElsewhere: "Un autre programme surveille déjà ; celui-ci prendra la suite. Ctrl-C y met fin.",
  measures: {
    held: (documents, questions) => `${documents}, ${counted("question", "questions", isFew)(questions)}`,
    byWords: "mots seuls",
    byMeaning: "mots et sens",
    quality: (ndcg, recall) => `nDCG@10 ${ndcg.replace(".", ",")}, rappel@10 ${recall.replace(".", ",")}`,
    openedIn: (time) => `ouverte en ${time.replace(".", ",")} ms`,
    times: (questions, { first, median, most }) =>
      `${counted("question", "questions", isFew)(questions)} : la première ${first} ms, puis ${median} ms, ` +
      `99 sur 100 au plus ${most} ms`,
    memory: (megabytes) => `${megabytes} Mo en mémoire`,
  },
  moves: {
    to: (what, place) => `${what} vers ${place}`,
    moved: (documents, unchanged, place) =>
      `${documents}${unchanged > 0 ? `, dont ${unchanged} déjà là` : ""}, vers ${place}`,
    same: (equal, questions) =>
      `${equal} sur ${counted("question", "questions", isFew)(questions)} trouvent la même chose dans les deux`,
    stays: "La bibliothèque d’ici reste telle quelle. Nommez la nouvelle : [library] store, ou LIBRARY_STORE.",
    vectors: (embedder) => (embedder === undefined ? "sans vecteurs" : `vecteurs de ${embedder}`),
    finding: ({ about, canMend, what }) =>
      `${about === "store" && canMend ? FRENCH_FINDINGS.index : FRENCH_FINDINGS[about]} (${what})`,
    mends: "toolyard library doctor --repair répare ce qui peut l’être.",
    well: "Rien d’anormal.",
    at: (engine, place) => `${engine}, ${place}`,
    languages: "langues :",
    unknown: "inconnu",
    byAuthor: { pages: "pages par auteur", passages: "passages par auteur" },
    byYear: { pages: "pages par année", passages: "passages par année" },
    moreAuthors: (count) => `et ${counted("autre auteur", "autres auteurs", isFew)(count)}`,
    outdated: (documents) =>
      `Une autre version de la bibliothèque a lu ${documents}. Pour relire les fichiers : toolyard library renew`,
    ofCollection: (collection, documents) => `collection ${collection} : ${documents}, d’une autre version`,
    current: "Tous les documents ont été lus par cette version.",
  },
};

/** Translations of the findings, by kind. The English sentence with the details follows. */
const FRENCH_FINDINGS = {
  store: "Des données sont endommagées ou manquent.",
  index: "Un index ou un compte est à refaire.",
  vectors: "Les vecteurs sont d’une autre version. Lancez `toolyard library reindex`.",
  files: "Des fichiers ne sont plus là : leurs liens ne mènent nulle part, leurs passages se trouvent toujours.",
  versions: "Des documents ont été lus par une autre version : lancez `toolyard library renew`.",
} as const;

/**
 * Translations of error messages, by reason or by code. The English sentence follows with details such as figures and
 * option names.
 */
const FRENCH_FAILURES: Readonly<Record<string, string>> = {
  password_required: "Le fichier est protégé par un mot de passe. Ôtez-le, puis ajoutez le fichier de nouveau.",
  damaged: "Le fichier est endommagé.",
  no_text: "Il ne contient pas de texte.",
  unknown_encoding: "L’encodage du texte n’est pas reconnu. Enregistrez-le en UTF-8.",
  not_a_pdf: "Le fichier n’est pas un PDF.",
  needs_ocr:
    "Ses pages sont des images sans texte. Mettez `ocr` à local ou mistral, ou faites-les lire par un logiciel d’OCR.",
  too_many_pages: "Il a plus de pages que la limite. Divisez-le, ou augmentez la limite.",
  timeout: "Sa lecture a pris plus de temps que permis, et a été arrêtée.",
  memory: "Sa lecture a pris plus de mémoire que permis, et a été arrêtée.",
  already_ingesting: "Il est déjà en cours de lecture.",
  already_there: "Ce fichier existe déjà. Nommez-en un autre.",
  DOCUMENT_NOT_FOUND: "Il n’existe pas.",
  ACCESS_DENIED: "Cela n’est pas permis.",
  DOWNLOAD_ERROR: "Le téléchargement a échoué.",
  TOO_LARGE: "C’est plus que la limite.",
  OCR_UNAVAILABLE: "L’OCR n’est pas disponible.",
  PDF_PROCESSING_ERROR: "Le PDF ne peut être lu.",
  VALIDATION_ERROR: "Ce n’est pas possible ainsi.",
  STORE_UNAVAILABLE: "La bibliothèque n’est pas accessible.",
  STORE_BUSY: "La bibliothèque est occupée. Réessayez.",
  INDEX_MISMATCH: "Les vecteurs sont d’une autre version. Lancez `toolyard library reindex`.",
};

function frenchFailure({ code, reason = code, message }: DocumentError): string {
  return `${FRENCH_FAILURES[reason] ?? FRENCH_FAILURES[code]!} (${message})`;
}

/**
 * Translations of warnings, by the beginning of the English text. The rest of a warning, such as page numbers, is kept
 * unchanged.
 */
const FRENCH_WARNINGS: readonly (readonly [english: RegExp, french: string])[] = [
  [/^It is (?:not|no) UTF-8, and was read as ([\w-]+)\.$/, "Ce n’est pas de l’UTF-8 ; lu comme du $1."],
  [
    /^Its front matter is (?:not|no) YAML and was left out: (.*)$/s,
    "Son en-tête n’est pas du YAML et a été laissé de côté : $1",
  ],
  [
    /^Chapters that the book lists (?:but does not contain|and lacks): (.*)\.$/s,
    "Chapitres que le livre annonce et qui y manquent : $1.",
  ],
  [
    /^Pages without text, which need OCR, were left out: (.*)\.$/,
    "Pages sans texte, à faire lire par l’OCR, laissées de côté : $1.",
  ],
  [
    /^Mistral OCR has no key\. Set the variable MISTRAL_API_KEY, or `ocr` to local\.$/,
    "L’OCR de Mistral n’a pas de clé. Définissez la variable MISTRAL_API_KEY, ou mettez `ocr` à local.",
  ],
  [
    /^Pages .*, such as JBIG2 (?:or|and) JPEG 2000, were left out: (.*)\.$/,
    "Pages dont les images (JBIG2, JPEG 2000…) ne peuvent être lues ici, laissées de côté : $1.",
  ],
  [
    /^Pages (?:with text that|whose text) seems to come from a bad OCR: ([^`]*)\. Add the file again with `ocr` force.*$/,
    "Pages dont le texte semble venir d’un mauvais OCR : $1. " +
      "Ajoutez le fichier de nouveau avec `ocr` force, là où les images de texte sont lues.",
  ],
];

function frenchWarning(text: string): string {
  const row = FRENCH_WARNINGS.find(([english]) => english.test(text));
  return row ? text.replace(row[0], row[1]) : text;
}

/** Returns a line with the status of an item. */
export function line(words: Words, status: Status, what: string): string {
  return `${words.status[status].padEnd(10)} ${what}`;
}

export interface CommandOutput {
  readonly io: CommandIo;
  readonly words: Words;
}

/** Wraps a command so that its output and its error are in the user's language. */
export function spoken<A, O>(run: (argument: A, options: O, by: CommandOutput) => Promise<number>) {
  return async (argument: A, options: O, io: CommandIo): Promise<number> => {
    const words = wordsFor(io.env);
    try {
      return await run(argument, options, { io, words });
    } catch (error) {
      if (!(error instanceof DocumentError) || words === ENGLISH) throw error;
      const told = new DocumentError(error.code, words.failure(error), error.reason);
      told.cause = error;
      throw told;
    }
  };
}

/** Returns the texts in the language of the user's locale; English if it has no translation. */
export function wordsFor(env: Readonly<Record<string, string | undefined>>): Words {
  const locale = env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "";
  return /^fr(?![a-z])/i.test(locale) ? FRENCH : ENGLISH;
}
