import type { Fail } from "../../core/calls/outcome.ts";
import type { BrokenInstall, Installation } from "../../core/sources/provider.ts";

/**
 * What the lines of a failed start say: what it needs is not on this machine yet, is there and cannot be used, or could
 * not be asked for.
 */
export type StartVerdict = "missing" | "broken" | "refused" | undefined;

/**
 * Brings what a command downloads (`npx`, `uvx`, …) before the command is started, so that no start is ended in the
 * middle of a download.
 */
export interface Installer {
  /** Present while something is downloaded, or is waited for. */
  readonly installation: Installation | undefined;
  /** Present once a start found something broken, until one went well. */
  readonly brokenInstall: BrokenInstall | undefined;
  /** Whatever is known to be needed is there once this resolves. Rejects with a `FailError`. */
  before(signal: AbortSignal): Promise<void>;
  /** What the lines on stderr of a start that failed say. */
  verdict(stderr: readonly string[]): StartVerdict;
  /** Downloads what was missing. Rejects with a `FailError`. */
  install(signal: AbortSignal): Promise<void>;
  /** Begins to look for signs of life of a start that may be downloading. The returned function ends that. */
  watch(onSign: () => void): () => void;
  /** A start wrote on stderr. */
  heard(): void;
  /** Nobody needs the server any more, so a start under way ends, but for its download. Call what it returns after. */
  leaving(): () => void;
  /** The failure of such a start, with what to do. */
  explain(failure: Fail, stderr: readonly string[]): Fail;
  /** A start went well. */
  succeeded(): void;
  /** The longest that a start may take while it shows signs of life. */
  readonly maxMs: number;
  /** Removes what is broken and downloads it anew. Rejects with a `FailError`. */
  mend(signal: AbortSignal): Promise<void>;
}
