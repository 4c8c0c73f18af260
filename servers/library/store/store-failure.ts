import { DocumentError, type DocumentErrorCode } from "../documents/document-error.ts";

const CODES = {
  unavailable: "STORE_UNAVAILABLE",
  busy: "STORE_BUSY",
  mismatch: "INDEX_MISMATCH",
} as const satisfies Record<string, DocumentErrorCode>;

/** A store that does not answer, or cannot take what it is given: never an empty list. */
export function storeFailure(why: keyof typeof CODES, message: string, cause?: unknown): DocumentError {
  const error = new DocumentError(CODES[why], message);
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** What is said where vectors come too late: somebody made those of the library anew in the meantime. */
export function mismatch(found: string, given: string): string {
  return (
    `The library's vectors are of ${found}, and these are of ${given}: nothing was written. Start this program again ` +
    "with the embedder of the library, or run `toolyard library reindex`."
  );
}
