import type { DocumentError } from "../documents/document-error.ts";

/** What commands say to a person; programs read `--json`, which has one language. */
export interface Words {
  readonly pages: (count: number) => string;
  readonly passages: (count: number) => string;
  readonly documents: (count: number) => string;
  readonly status: Readonly<Record<"added" | "updated" | "unchanged" | "failed" | "removed" | "reindexed", string>>;
  /** Why a document was not read. */
  readonly failure: (error: DocumentError) => string;
  readonly noFile: string;
  readonly noAnswer: (query: string) => string;
  readonly noDocument: (id: string) => string;
  readonly empty: string;
  readonly more: (count: number) => string;
  /** Of what is under way: the line of everything, and the states of one document and of all. */
  readonly whole: string;
  readonly reading: string;
  readonly ofAll: (done: number, total: number) => string;
  readonly rate: (pagesPerSecond: string) => string;
  readonly left: (time: string) => string;
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
  },
  failure: ({ message }) => message,
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
};

/** In French nothing and one are one. */
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
  },
  failure: frenchFailure,
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
};

/** By their reasons, or else their codes; the English sentence tells the rest, such as figures and names of options. */
const FRENCH_FAILURES: Readonly<Record<string, string>> = {
  password_required: "Le fichier est protégé par un mot de passe. Ôtez-le, puis ajoutez le fichier de nouveau.",
  damaged: "Le fichier est endommagé.",
  not_a_pdf: "Le fichier n’est pas un PDF.",
  needs_ocr:
    "Ses pages sont des images sans texte. Mettez `ocr` à local ou mistral, ou faites-les lire par un logiciel d’OCR.",
  too_many_pages: "Il a plus de pages que la limite. Divisez-le, ou augmentez la limite.",
  timeout: "Sa lecture a pris plus de temps que permis, et a été arrêtée.",
  memory: "Sa lecture a pris plus de mémoire que permis, et a été arrêtée.",
  already_ingesting: "Il est déjà en cours de lecture.",
  DOCUMENT_NOT_FOUND: "Il n’existe pas.",
  ACCESS_DENIED: "Cela n’est pas permis.",
  DOWNLOAD_ERROR: "Le téléchargement a échoué.",
  TOO_LARGE: "C’est plus que la limite.",
  OCR_UNAVAILABLE: "L’OCR n’est pas disponible.",
  PDF_PROCESSING_ERROR: "Le PDF ne peut être lu.",
  VALIDATION_ERROR: "Cela ne peut être lu.",
  STORE_UNAVAILABLE: "La bibliothèque n’est pas accessible.",
  STORE_BUSY: "La bibliothèque est occupée. Réessayez.",
  INDEX_MISMATCH: "Les vecteurs sont d’une autre version. Lancez `toolyard library reindex`.",
};

function frenchFailure({ code, reason = code, message }: DocumentError): string {
  return `${FRENCH_FAILURES[reason] ?? FRENCH_FAILURES[code]!} (${message})`;
}

/** In the language of the person's locale, where it is one of ours. */
export function wordsFor(env: Readonly<Record<string, string | undefined>>): Words {
  const locale = env["LC_ALL"] || env["LC_MESSAGES"] || env["LANG"] || "";
  return /^fr(?![a-z])/i.test(locale) ? FRENCH : ENGLISH;
}
