import { extname } from "node:path";
import type { Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";

export interface Format {
  readonly name: string;
  readonly mime: string;
  readonly extensions: readonly string[];
  readonly load: () => Promise<Reader>;
}

const FORMATS: readonly Format[] = [
  {
    name: "PDF",
    mime: "application/pdf",
    extensions: [".pdf"],
    load: async () => (await import("./read-pdf.ts")).readPdf,
  },
  {
    name: "Markdown",
    mime: "text/markdown",
    extensions: [".md", ".markdown", ".mdown"],
    load: async () => (await import("./read-markdown.ts")).readMarkdown,
  },
  {
    name: "text",
    mime: "text/plain",
    extensions: [".txt", ".text"],
    load: async () => (await import("./read-text.ts")).readText,
  },
  {
    name: "HTML",
    mime: "text/html",
    extensions: [".html", ".htm", ".xhtml"],
    load: async () => (await import("./read-html.ts")).readHtml,
  },
  {
    name: "DOCX",
    mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    extensions: [".docx"],
    load: async () => (await import("./read-docx.ts")).readDocx,
  },
  {
    name: "ODT",
    mime: "application/vnd.oasis.opendocument.text",
    extensions: [".odt", ".ott"],
    load: async () => (await import("./read-odt.ts")).readOdt,
  },
  {
    name: "RTF",
    mime: "application/rtf",
    extensions: [".rtf"],
    load: async () => (await import("./read-rtf.ts")).readRtf,
  },
  {
    name: "EPUB",
    mime: "application/epub+zip",
    extensions: [".epub"],
    load: async () => (await import("./read-epub.ts")).readEpub,
  },
  {
    name: "PNG",
    mime: "image/png",
    extensions: [".png"],
    load: async () => (await import("./read-image.ts")).readImage,
  },
  {
    name: "JPEG",
    mime: "image/jpeg",
    extensions: [".jpg", ".jpeg"],
    load: async () => (await import("./read-image.ts")).readImage,
  },
  {
    name: "TIFF",
    mime: "image/tiff",
    extensions: [".tif", ".tiff"],
    load: async () => (await import("./read-tiff.ts")).readTiff,
  },
];

export const EXTENSIONS: readonly string[] = FORMATS.flatMap(({ extensions }) => extensions);

/** Extensions of the files that are read from a folder. Images are excluded, because they are seldom scanned pages. */
export const FOLDER_EXTENSIONS: readonly string[] = FORMATS.filter(({ mime }) => !mime.startsWith("image/")).flatMap(
  ({ extensions }) => extensions,
);

const PDF_BEGINS = "%PDF-";
/** Signatures of other formats: their first bytes, as Latin-1. */
const BEGINS: Readonly<Record<string, string | readonly string[]>> = {
  DOCX: "PK\u0003\u0004",
  ODT: "PK\u0003\u0004",
  RTF: "{\\rtf",
  EPUB: "PK\u0003\u0004",
  PNG: "\u0089PNG\r\n\u001a\n",
  JPEG: "\u00ff\u00d8\u00ff",
  TIFF: ["II*\0", "MM\0*", "II+\0", "MM\0+"],
};
/** Number of bytes that are searched for a signature. The header of a mail or a printer may precede a PDF. */
const LOOKED_AT = 1_024;
/** Formats whose names take the article "an". */
const WITH_AN: ReadonlySet<string> = new Set(["ODT", "RTF", "EPUB", "HTML"]);
/** Formats without a signature. Their text contains no NUL. */
const OF_TEXT: ReadonlySet<string> = new Set(["Markdown", "text", "HTML"]);

/**
 * Returns the format of a file: from its first bytes, else from its extension, else from the MIME type of the sender.
 * Throws a `DocumentError`.
 */
export function formatOf(path: string, bytes: Uint8Array, mime?: string): Format {
  const beginning = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString("latin1");
  if (beginning.includes(PDF_BEGINS)) return FORMATS[0]!;
  const extension = extname(path).toLowerCase();
  const byName = FORMATS.find(({ extensions }) => extensions.includes(extension));
  const format = byName ?? FORMATS.find((one) => one.mime === mime);
  if (!format)
    throw new DocumentError(
      "VALIDATION_ERROR",
      `Files that end in ${extension === "" ? "nothing" : extension} are not read. Known are ${EXTENSIONS.join(", ")}.`,
    );
  const { name } = format;
  if (name === "PDF")
    throw new DocumentError("PDF_PROCESSING_ERROR", "It is not a PDF: it does not begin with `%PDF-`.", "not_a_pdf");
  if (![BEGINS[name] ?? ""].flat().some((begin) => beginning.startsWith(begin)))
    throw new DocumentError(
      "VALIDATION_ERROR",
      `It is not ${WITH_AN.has(name) ? "an" : "a"} ${name} file: its first bytes differ.`,
    );
  if (OF_TEXT.has(name) && beginning.includes("\0") && !/^(\xff\xfe|\xfe\xff)/.test(beginning))
    throw new DocumentError(
      "VALIDATION_ERROR",
      `It is not a ${name} file: it contains bytes that text never contains.`,
    );
  return format;
}
