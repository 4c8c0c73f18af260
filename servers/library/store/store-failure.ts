import { DocumentError, type DocumentErrorCode } from "../documents/document-error.ts";

const CODES = { unavailable: "STORE_UNAVAILABLE", busy: "STORE_BUSY" } as const satisfies Record<
  string,
  DocumentErrorCode
>;

/** A store that does not answer, or cannot take what it is given: never an empty list. */
export function storeFailure(why: keyof typeof CODES, message: string, cause?: unknown): DocumentError {
  const error = new DocumentError(CODES[why], message);
  if (cause !== undefined) error.cause = cause;
  return error;
}
