export type Value = string | number | bigint | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;

/** A connection to one file, with either engine. Statements are prepared once. */
export interface SqliteDriver {
  /** Name of the engine: `node:sqlite` or `libsql`. */
  readonly engine: string;
  /** Identifies the opened file, even if another file has its name now; undefined in memory. */
  readonly identity: string | undefined;
  exec(sql: string): void;
  all(sql: string, values?: readonly Value[]): Row[];
  get(sql: string, values?: readonly Value[]): Row | undefined;
  /** Runs a statement. Returns the number of changed rows. */
  run(sql: string, values?: readonly Value[]): number;
  /** Runs `work` in one transaction, which is rolled back if `work` throws. `work` must be synchronous. */
  transaction<T>(work: () => T): T;
  /** Runs in a snapshot, so that writes of other processes are invisible. `work` must be synchronous. */
  atOnce<T>(work: () => T): T;
  /** Creates the errors that this driver throws. */
  readonly fail: Fail;
  close(): void;
}

export type Fail = (why: "unavailable" | "busy" | "mismatch", message: string, cause?: unknown) => Error;
