import { hashOf, NO_HASH, readLink, type ChainLink } from "./hash-chain.ts";

/** Finding of the verification. */
export interface ChainFinding {
  readonly file: string;
  /** Number of the line; the first line is 1. */
  readonly line: number;
  readonly problem: string;
}

export interface ChainReport {
  readonly lines: number;
  /** Number of lines without a chain, which were written while `chain` was off. */
  readonly unchained: number;
  readonly chains: number;
  readonly findings: readonly ChainFinding[];
}

interface ChainState {
  readonly seq: number;
  readonly hash: string;
}

/** Maximum number of findings that are reported; a broken file would otherwise fill the terminal. */
const MAX_FINDINGS = 100;

/**
 * Verifies the lines of one audit in the order of their files. Detects changed, removed, inserted and reordered lines.
 * Cannot detect that the newest lines of every chain were removed, nor, without a key, that a whole file was rewritten.
 */
export class ChainVerifier {
  readonly #key: string | undefined;
  readonly #chains = new Map<string, ChainState>();
  readonly #hashes = new Set<string>([NO_HASH]);
  readonly #findings: ChainFinding[] = [];
  #lines = 0;
  #unchained = 0;
  /**
   * True for the first line. It may refer to a line in a file that retention has deleted, so its reference is not
   * checked.
   */
  #isFirst = true;

  constructor(key?: string) {
    this.#key = key;
  }

  add(text: string, file: string, line: number): void {
    if (text === "") return;
    this.#lines += 1;
    const link = readLink(text);
    if (!link) {
      this.#unchained += 1;
      this.#isFirst = false;
      if (this.#chains.size > 0) this.#find({ file, line, problem: "has no chain, after lines with one" });
      return;
    }
    const problem = this.#problemOf(link);
    if (problem !== undefined) this.#find({ file, line, problem });
    this.#chains.set(link.chain, link);
    this.#hashes.add(link.hash);
    this.#isFirst = false;
  }

  report(): ChainReport {
    const { size: chains } = this.#chains;
    return { lines: this.#lines, unchained: this.#unchained, chains, findings: this.#findings };
  }

  #find(finding: ChainFinding): void {
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding);
  }

  #problemOf({ chain, seq, prev, linked, hash }: ChainLink): string | undefined {
    if (hash !== hashOf(linked, this.#key)) return "was changed";
    const before = this.#chains.get(chain);
    if (before && seq !== before.seq + 1) return gapText(before.seq, seq);
    if (before) return prev === before.hash ? undefined : "follows a line that was changed";
    if (this.#isFirst) return undefined;
    if (seq !== 1) return `starts with line ${seq} of its chain: earlier lines are missing`;
    return this.#hashes.has(prev) ? undefined : "follows a line that is missing";
  }
}

function gapText(before: number, seq: number): string {
  if (seq > before) return seq === before + 2 ? "follows a missing line" : `follows ${seq - before - 1} missing lines`;
  return "is repeated or out of order";
}
