/**
 * Functions of the surrounding worker that code inside the sandbox may call: an operation with two texts, or with a
 * text and bytes. Nothing else is passed. A refusal becomes an exception inside.
 */
export type GuestHost = (
  operation: HostOperation,
  first?: string,
  second?: string | Uint8Array,
) => string | Uint8Array | undefined;

export type HostOperation =
  | "print"
  | "call"
  | "search"
  | "timer"
  | "untimer"
  | "done"
  | "failed"
  | "random"
  | "uuid"
  | "encode"
  | "decode"
  | "url"
  | "file.text"
  /** Like `file.text`, for JSON: integers beyond 2^53 are marked. */
  | "file.json"
  | "file.bytes"
  | "file.put"
  | "file.list"
  | "file.remove";
