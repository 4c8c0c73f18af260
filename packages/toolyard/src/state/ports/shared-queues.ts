import { createHash } from "node:crypto";

/** Script with one key that the store executes as one step. */
export interface SharedScript {
  readonly text: string;
  readonly digest: string;
}

export function defineScript(text: string): SharedScript {
  return { text, digest: createHash("sha1").update(text).digest("hex") };
}

/** Exclusive use of a key by one hub, which is renewed until it is released. */
export interface StoreLease {
  /** Ends the lease. Never rejects. */
  release(): Promise<void>;
}

/** Access of one hub to the shared store, for tasks and queued work. */
export interface SharedQueues {
  readonly hub: string;
  /** Start of the name of every key. */
  readonly prefix: string;
  /** True while the store cannot be reached. */
  readonly isLost: boolean;
  /** Resolves to true if a hub has a lease. Rejects with a `StoreLostError`. */
  isAlive(hub: string): Promise<boolean>;
  command(name: string, ...parts: (string | number)[]): Promise<unknown>;
  /** Runs a script in one step. */
  run(script: SharedScript, key: string, ...parts: (string | number)[]): Promise<unknown>;
  /**
   * Takes the lease of a key. Resolves to `undefined` if another hub has it. The lease of a killed hub ends after
   * `lifeMs`.
   */
  takeLease(key: string, lifeMs: number): Promise<StoreLease | undefined>;
  /** Opens another connection, which waits while the store cannot be reached. Its user must disconnect it. */
  connect(): unknown;
  /** Calls the function after the store was lost and is back, until the returned function is called. */
  onRestored(listener: () => void): () => void;
}
