export type Value = string | number | bigint | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** One connection to one file, whichever engine is behind it. Statements are prepared once. */
export interface SqliteDriver {
  /** `node:sqlite` or `libsql`. */
  readonly engine: string;
  /** Which file it is, whatever has its name by now; undefined in memory. */
  readonly identity: string | undefined;
  exec(sql: string): void;
  all(sql: string, values?: readonly Value[]): Row[];
  get(sql: string, values?: readonly Value[]): Row | undefined;
  /** The number of rows that it changed. */
  run(sql: string, values?: readonly Value[]): number;
  /** All of the work or nothing of it. It must not wait for anything. */
  transaction<T>(work: () => T): T;
  /** Reads as of one moment, whatever other processes write meanwhile. It must not wait for anything. */
  atOnce<T>(work: () => T): T;
  /** What its failures are thrown as. */
  readonly fail: Fail;
  close(): void;
}

export type Fail = (why: "unavailable" | "busy" | "mismatch", message: string, cause?: unknown) => Error;
