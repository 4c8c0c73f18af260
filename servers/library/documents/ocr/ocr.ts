/** Whether pictures of text are read, and by whom. */
export interface OcrChoice {
  readonly by: "off" | "local" | "mistral";
  /** `auto`: pages without text alone; `force`: all pages, whatever text they hold. */
  readonly when: "auto" | "force";
  /** ISO 639-1, tried in this order where the document's own is not known. */
  readonly languages: readonly string[];
  /** Folder of `eng.traineddata` and its like. @default packages of that data */
  readonly data?: string;
}

/** What is wanted of one document: as the library's own choice is, not at all, or of all its pages. */
export type OcrWish = "auto" | "off" | "force";

export const NO_OCR: OcrChoice = { by: "off", when: "auto", languages: [] };

/** A picture of a page: rows of RGBA. */
export interface PagePicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}
