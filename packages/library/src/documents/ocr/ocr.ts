/** OCR settings: which engine reads pictures of text, and when. */
export interface OcrChoice {
  readonly by: "off" | "local" | "mistral";
  /** `auto`: only pages without text; `force`: all pages. */
  readonly when: "auto" | "force";
  /** ISO 639-1, tried in this order where the document's own is not known. */
  readonly languages: readonly string[];
  /** Folder of `eng.traineddata` and its like. @default packages of that data */
  readonly data?: string;
  /** Mistral was chosen, and its key is missing; `by` is then `off`. @default false */
  readonly lacksKey?: boolean;
}

/** OCR of one document: as the library is configured, off, or all pages. */
export type OcrWish = "auto" | "off" | "force";

export const NO_OCR: OcrChoice = { by: "off", when: "auto", languages: [] };

/** Returns the choice without an engine if the key of its service is missing; files with text are still read. */
export function withoutKey(choice: OcrChoice): OcrChoice {
  return choice.by === "mistral" ? { ...choice, by: "off", lacksKey: true } : choice;
}

/** Returns the sentence part that tells how to have pictures of text read. */
export function ocrAdvice(choice: OcrChoice | undefined): string {
  return choice?.lacksKey
    ? "Mistral OCR has no key. Set the variable MISTRAL_API_KEY, or `ocr` to local"
    : "Set `ocr` to local or mistral";
}

/** A picture of a page: rows of RGBA. */
export interface PagePicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}
