import { FailError } from "../../core/errors.ts";
import { failureOf } from "../faults.ts";
import type { Installer } from "./installer.ts";

export interface StartOptions {
  readonly installer: Installer | undefined;
  readonly signal: AbortSignal;
  readonly lines: StartLines;
  /** Called if a start failed only because a package must be downloaded. */
  readonly onMissing: (lines: readonly string[]) => void;
}

/**
 * Maximum number of starts. After a download, the start is repeated. If another package is then missing, the configured
 * command is started, which downloads the package itself.
 */
const MAX_STARTS = 3;

/** Starts a server. Downloads missing packages outside the time limit of the start. */
export async function startInstalled<T>(start: () => Promise<T>, options: StartOptions): Promise<T> {
  const { installer, signal, lines, onMissing } = options;
  if (!installer) return start();
  await installer.before(signal);
  for (let starts = 1; ; starts += 1) {
    lines.clear();
    try {
      const started = await start();
      installer.succeeded();
      return started;
    } catch (error) {
      const verdict = signal.aborted ? undefined : installer.verdict(lines.all);
      if (verdict === undefined || signal.aborted) throw error;
      if (verdict !== "missing" || starts >= MAX_STARTS)
        throw new FailError(installer.explain(failureOf(error), lines.all));
      onMissing(lines.all);
      await installer.install(signal);
    }
  }
}

const MAX_LINES = 400;

/** The stderr output of one connection's starts: the first lines, which usually contain the error. */
export class StartLines {
  #lines: string[] = [];

  get all(): readonly string[] {
    return this.#lines;
  }

  push(line: string): void {
    if (this.#lines.length < MAX_LINES) this.#lines.push(line);
  }

  clear(): void {
    this.#lines = [];
  }
}
