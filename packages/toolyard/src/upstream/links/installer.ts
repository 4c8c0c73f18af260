import type { Fail } from "../../core/calls/outcome.ts";
import type { BrokenInstall, Installation } from "../../core/sources/provider.ts";

/**
 * The result of reading a failed start's output: a needed package is missing, is present but broken, or could not be
 * requested.
 */
export type StartVerdict = "missing" | "broken" | "refused" | undefined;

/**
 * Downloads what a command needs (`npx`, `uvx`, …) before the command is started, so that no start is ended during a
 * download.
 */
export interface Installer {
  /** Present during a download, or the wait for one. */
  readonly installation: Installation | undefined;
  /** Present after a start with a broken install, until one succeeds. */
  readonly brokenInstall: BrokenInstall | undefined;
  /** Resolves when everything known to be needed is present. Rejects with a `FailError`. */
  before(signal: AbortSignal): Promise<void>;
  /** Returns the verdict on the stderr lines of a failed start. */
  verdict(stderr: readonly string[]): StartVerdict;
  /** Downloads missing packages. Rejects with a `FailError`. */
  install(signal: AbortSignal): Promise<void>;
  /** Watches a start that may be downloading for activity. The returned function stops that. */
  watch(onSign: () => void): () => void;
  /** Records stderr output of a start. */
  heard(): void;
  /**
   * Ends a running start, except for its download, because the server is no longer needed. Call the returned function
   * afterwards.
   */
  leaving(): () => void;
  /** Returns the failure of such a start, with the advice for the user. */
  explain(failure: Fail, stderr: readonly string[]): Fail;
  /** Records a successful start. */
  succeeded(): void;
  /** Longest duration of a start with activity, in milliseconds. */
  readonly maxMs: number;
  /** Removes a broken install and downloads it again. Rejects with a `FailError`. */
  mend(signal: AbortSignal): Promise<void>;
}
