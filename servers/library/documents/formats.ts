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
];

/** Endings of the files that are read, in a folder. */
export const EXTENSIONS: readonly string[] = FORMATS.flatMap(({ extensions }) => extensions);

const PDF_BEGINS = "%PDF-";
/** A PDF may have some bytes of a mail or a printer before it. */
const LOOKED_AT = 1_024;

/** How a file is read: by its first bytes where these tell, else by its ending. Throws a `DocumentError`. */
export function formatOf(path: string, bytes: Uint8Array): Format {
  const beginning = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString("latin1");
  if (beginning.includes(PDF_BEGINS)) return FORMATS[0]!;
  const extension = extname(path).toLowerCase();
  const format = FORMATS.find(({ extensions }) => extensions.includes(extension));
  if (format === FORMATS[0])
    throw new DocumentError("PDF_PROCESSING_ERROR", "It does not begin as a PDF does (`%PDF-`).", "not_a_pdf");
  if (!format)
    throw new DocumentError(
      "VALIDATION_ERROR",
      `Files that end in ${extension === "" ? "nothing" : extension} are not read. Known are ${EXTENSIONS.join(", ")}.`,
    );
  if (beginning.includes("\0") && !/^(\xff\xfe|\xfe\xff)/.test(beginning))
    throw new DocumentError("VALIDATION_ERROR", `It is no ${format.name}: it holds bytes that no text has.`);
  return format;
}
