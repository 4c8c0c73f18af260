import { readFileSync } from "node:fs";
import { contentDigest } from "../../core/json/digest.ts";
import type { FingerprintState } from "../../runtimes/typescript/fingerprint.ts";
import { isYoung, looksLike, stampOf, type FileStamp } from "../tool-folders/file-stamp.ts";

interface FileFingerprint {
  readonly stamp: FileStamp | undefined;
  readonly digest: string;
}

/** Files below its root folder that a Python module has read. They are known after the module was loaded. */
export class PythonFingerprint {
  readonly #entry: string;
  #seen: Map<string, FileFingerprint>;
  #isYoung = true;
  /** Returns whether a missing requirement is now present. */
  #isMended: (() => boolean) | undefined;

  constructor(entry: string) {
    this.#entry = entry;
    this.#seen = new Map([[entry, look(entry)]]);
  }

  get files(): readonly string[] {
    return Array.from(this.#seen.keys());
  }

  /**
   * Adds files that the process has read. If a file is already known, its recorded state stays, because it was recorded
   * before the read.
   */
  adopt(files: readonly string[]): void {
    const known = this.#seen;
    this.#seen = new Map([this.#entry, ...files].map((file) => [file, known.get(file) ?? look(file)]));
    this.#isYoung = true;
  }

  /** Adds a function that checks whether a missing requirement is present. It is called at each check of the files. */
  awaits(isMended: () => boolean): void {
    this.#isMended = isMended;
  }

  check(): FingerprintState {
    if (this.#isMended?.()) {
      this.#isMended = undefined;
      return "touched";
    }
    const touched = Array.from(this.#seen).filter(([file, { stamp }]) => !looksLike(file, stamp));
    if (touched.length === 0 && !this.#isYoung) return "same";
    const before = this.#seen;
    this.#seen = new Map(Array.from(before.keys(), (file) => [file, look(file)]));
    const now = Date.now();
    this.#isYoung = Array.from(this.#seen.values()).some(({ stamp }) => isYoung(stamp, now));
    if (Array.from(this.#seen).some(([file, { digest }]) => digest !== before.get(file)?.digest)) return "changed";
    return touched.length > 0 ? "touched" : "same";
  }
}

// The stamp is read before the content, so that the next check detects a write in between.
function look(file: string): FileFingerprint {
  const stamp = stampOf(file);
  try {
    return { stamp, digest: contentDigest(readFileSync(file, "latin1")) };
  } catch {
    return { stamp, digest: "" };
  }
}
