/** OCR settings: which engine reads pictures of text, and when. */
export interface OcrChoice {
  readonly by: "off" | "local" | "mistral";
  /** `auto`: only pages without text; `force`: all pages. */
  readonly when: "auto" | "force";
  /** ISO 639-1, tried in this order where the document's own is not known. */
  readonly languages: readonly string[];
  /** Folder of `eng.traineddata` and its like. @default packages of that data */
  readonly data?: string;
}

/** OCR of one document: as the library is configured, off, or all pages. */
export type OcrWish = "auto" | "off" | "force";

export const NO_OCR: OcrChoice = { by: "off", when: "auto", languages: [] };

/** A picture of a page: rows of RGBA. */
export interface PagePicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}
