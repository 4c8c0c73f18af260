import { FailError, type FailKind } from "toolyard";

/** Error codes by which programs distinguish why a document cannot be read or found. */
export type DocumentErrorCode =
  | "PDF_PROCESSING_ERROR"
  | "DOCUMENT_NOT_FOUND"
  | "VALIDATION_ERROR"
  | "ACCESS_DENIED"
  | "TOO_LARGE"
  | "OCR_UNAVAILABLE"
  | "DOWNLOAD_ERROR"
  | "INDEX_MISMATCH"
  | "STORE_UNAVAILABLE"
  | "STORE_BUSY";

const KINDS: Readonly<Record<DocumentErrorCode, FailKind>> = {
  PDF_PROCESSING_ERROR: "tool_error",
  DOCUMENT_NOT_FOUND: "tool_error",
  VALIDATION_ERROR: "invalid_params",
  ACCESS_DENIED: "denied",
  TOO_LARGE: "tool_error",
  OCR_UNAVAILABLE: "unavailable",
  DOWNLOAD_ERROR: "tool_error",
  INDEX_MISMATCH: "unavailable",
  STORE_UNAVAILABLE: "unavailable",
  STORE_BUSY: "unavailable",
};

export function isDocumentErrorCode(text: string): text is DocumentErrorCode {
  return Object.hasOwn(KINDS, text);
}

/** An error of the library, with a message for its caller. */
export class DocumentError extends FailError {
  readonly code: DocumentErrorCode;
  /** Detailed reason why a file cannot be read: `password_required`, `damaged`, `needs_ocr` … */
  readonly reason?: string;
  /** The path, pattern or address that was refused, as the caller wrote it. */
  source?: string;

  constructor(code: DocumentErrorCode, message: string, reason?: string) {
    super({ ok: false, kind: KINDS[code], message, retryable: code === "STORE_BUSY" });
    this.code = code;
    if (reason !== undefined) this.reason = reason;
  }
}
