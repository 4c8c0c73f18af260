import { DocumentError, type DocumentErrorCode } from "../documents/document-error.ts";

const CODES = {
  unavailable: "STORE_UNAVAILABLE",
  busy: "STORE_BUSY",
  mismatch: "INDEX_MISMATCH",
} as const satisfies Record<string, DocumentErrorCode>;

/**
 * Creates the error of a store that does not answer or cannot store a value. A failed query never becomes an empty
 * list.
 */
export function storeFailure(why: keyof typeof CODES, message: string, cause?: unknown): DocumentError {
  const error = new DocumentError(CODES[why], message);
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** Returns the message for vectors of an embedder that has been replaced meanwhile. */
export function mismatch(found: string, given: string): string {
  return (
    `The library's vectors are from the embedder ${found}, these from ${given}, so nothing was written. ` +
    "Restart this program " +
    "with the embedder of the library, or run `toolyard library reindex`."
  );
}
