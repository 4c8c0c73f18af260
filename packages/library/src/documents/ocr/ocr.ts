/** Selects how page images are read: the OCR engine, and when it is used. */
export interface OcrChoice {
  readonly by: "off" | "local" | "mistral";
  /** `auto`: only pages without text; `force`: all pages. */
  readonly when: "auto" | "force";
  /** ISO 639-1 codes, tried in this order if the document's language is unknown. */
  readonly languages: readonly string[];
  /** Folder with `eng.traineddata` and the files of other languages. @default the installed language packages */
  readonly data?: string;
  /** True if Mistral is configured but its key is missing; `by` is then `off`. @default false */
  readonly lacksKey?: boolean;
}

/** OCR setting of one document: as configured for the library, off, or on every page. */
export type OcrWish = "auto" | "off" | "force";

export const NO_OCR: OcrChoice = { by: "off", when: "auto", languages: [] };

/** Returns the choice without an engine if the key of its service is missing; files with text are still read. */
export function withoutKey(choice: OcrChoice): OcrChoice {
  return choice.by === "mistral" ? { ...choice, by: "off", lacksKey: true } : choice;
}

/** Returns the part of a sentence that explains how to enable OCR. */
export function ocrAdvice(choice: OcrChoice | undefined): string {
  return choice?.lacksKey
    ? "Mistral OCR has no key. Set the variable MISTRAL_API_KEY, or `ocr` to local"
    : "Set `ocr` to local or mistral";
}

/** Maximum number of pixels of an image. Larger images are not pages of a book. */
export const MAX_PIXELS = 60_000_000;

/** Image of a page: rows of RGBA pixels. */
export interface PagePicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}
