import type { Fail } from "../sqlite/sqlite-driver.ts";
import type { SqliteWrites } from "../sqlite/sqlite-writes.ts";
import type { DocumentFields, PassageFields, PassageKind, Passages } from "../store.ts";

/** Start data of the thread. */
export interface WriterData {
  readonly path: string;
  readonly engine: "libsql" | undefined;
  /** Identity of the file when it was opened for reading. */
  readonly identity: string | undefined;
}

/** Operations that fit into one message. A document is sent in several. */
export type WriteOperation = Exclude<keyof SqliteWrites, "replaceDocument">;

export type ToWriter =
  | { readonly type: "passages"; readonly kind: PassageKind; readonly pieces: readonly PassageFields[] }
  | {
      /** Stores the document with the passages that were sent before. */
      readonly type: "replace";
      readonly document: DocumentFields;
      readonly text: string;
      readonly rest: Omit<Passages, "chunks" | "summaries">;
    }
  /** Discards the passages that were sent before. */
  | { readonly type: "forget" }
  | { readonly type: "do"; readonly name: WriteOperation; readonly given: readonly unknown[] }
  | { readonly type: "close" };

export type FromWriter =
  | { readonly type: "done"; readonly result: unknown }
  | { readonly type: "failed"; readonly failure: WriteFailure };

export interface WriteFailure {
  readonly message: string;
  /** Kind of the failure. Absent: an internal error. */
  readonly why?: Parameters<Fail>[0];
  readonly cause?: Error;
}
