import type { Fail } from "../../core/calls/outcome.ts";
import type { BrokenInstall, Installation } from "../../core/sources/provider.ts";

/**
 * Verdict on a failed start, from its output: a package is missing, is installed but broken, or could not be
 * downloaded.
 */
export type StartVerdict = "missing" | "broken" | "refused" | undefined;

/**
 * Downloads the packages that a command needs (`npx`, `uvx`, …) before the command is started, so that no start is
 * ended during a download.
 */
export interface Installer {
  /** Present during a download, or the wait for one. */
  readonly installation: Installation | undefined;
  /** Present after a start with a broken install, until one succeeds. */
  readonly brokenInstall: BrokenInstall | undefined;
  /** Downloads the packages that are known to be missing. Rejects with a `FailError`. */
  before(signal: AbortSignal): Promise<void>;
  /** Returns the verdict from the stderr lines of a failed start. */
  verdict(stderr: readonly string[]): StartVerdict;
  /** Downloads missing packages. Rejects with a `FailError`. */
  install(signal: AbortSignal): Promise<void>;
  /** Calls `onSign` for each sign of activity of a start that may be downloading. The returned function stops that. */
  watch(onSign: () => void): () => void;
  /** Records stderr output of a start. */
  heard(): void;
  /**
   * Ends a running start because the server is no longer needed, but lets its download finish. The caller must then
   * call the returned function.
   */
  leaving(): () => void;
  /** Returns the failure of a broken or refused download, with advice for the user. */
  explain(failure: Fail, stderr: readonly string[]): Fail;
  /** Records a successful start. */
  succeeded(): void;
  /** Maximum duration of a start with activity, in milliseconds. */
  readonly maxMs: number;
  /** Removes a broken install and downloads it again. Rejects with a `FailError`. */
  mend(signal: AbortSignal): Promise<void>;
}
