import { supportBufferTransfer } from "./buffer-transfer.ts";
import { CMAP_OPTIONS } from "./cmaps.ts";
import { DocumentError } from "./document-error.ts";
import { pictureOfPage, type PaintedPage, type SharedPicture } from "./pdf-pictures.ts";

export interface PdfPage extends PaintedPage {
  getTextContent(options?: object): Promise<{ readonly items: readonly object[] }>;
  cleanup(): void;
}
export interface Outline {
  readonly title: string;
  readonly items: readonly Outline[];
}
export interface Pdf {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getPageLabels(): Promise<readonly string[] | null>;
  getMetadata(): Promise<{ readonly info?: Readonly<Record<string, unknown>>; readonly metadata?: Xmp | null }>;
  getOutline(): Promise<readonly Outline[] | null>;
  getOptionalContentConfig(): Promise<{ isVisible(layer: unknown): boolean }>;
  destroy(): Promise<void>;
}
interface Xmp {
  get(name: string): unknown;
}

/** Number of pixels above which pdf.js omits a picture, so that it decodes none. */
const NO_PICTURES = 1;

/**
 * An open PDF. Its texts are read without pictures, because pdf.js decodes every picture of a page whose operators are
 * read. The file is opened again for the pictures when one is needed.
 */
export class PdfFile {
  readonly texts: Pdf;
  readonly #bytes: Uint8Array;
  #pictures: Promise<Pdf> | undefined;

  private constructor(bytes: Uint8Array, texts: Pdf) {
    this.#bytes = bytes;
    this.texts = texts;
  }

  /** Throws a `DocumentError`. */
  static async open(bytes: Uint8Array): Promise<PdfFile> {
    return new PdfFile(bytes, await openPdf(bytes, NO_PICTURES));
  }

  pictures(): Promise<Pdf> {
    this.#pictures ??= openPdf(this.#bytes);
    return this.#pictures;
  }

  async close(): Promise<void> {
    const pictures = await this.#pictures?.catch(() => undefined);
    await Promise.all([this.texts.destroy(), pictures?.destroy()]);
  }
}

/** Opens a PDF. `maxPixels` is the size of pictures above which they are omitted; -1 for none. */
export async function openPdf(bytes: Uint8Array, maxPixels = -1): Promise<Pdf> {
  supportBufferTransfer();
  const { getDocumentProxy } = await import("unpdf");
  try {
    // pdf.js takes ownership of the bytes, so it receives a copy.
    return (await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      maxImageSize: maxPixels,
      ...CMAP_OPTIONS,
      verbosity: 0,
    })) as unknown as Pdf;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "PasswordException")
      throw new DocumentError(
        "PDF_PROCESSING_ERROR",
        "It is protected by a password. Remove the password, and add the file again.",
        "password_required",
      );
    throw new DocumentError("PDF_PROCESSING_ERROR", `It is damaged, or it is not a PDF: ${message}`, "damaged");
  }
}

/** Calls a function with a page, and releases the page. */
export async function withPage<T>(pdf: Pdf, number: number, use: (page: PdfPage) => Promise<T>): Promise<T> {
  const page = await pdf.getPage(number);
  try {
    return await use(page);
  } finally {
    page.cleanup();
  }
}

/** Returns the scan that covers a page, or undefined. */
export function pictureOf(pdf: Pdf, number: number): Promise<SharedPicture | undefined> {
  return withPage(pdf, number, pictureOfPage);
}
