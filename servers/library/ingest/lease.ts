import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";

const BEAT_MS = 10_000;
/** On another machine only the time of its file tells whether a holder is there. */
const STALE_MS = 30_000;

/** Held by one process at a time, by a file; whoever comes after a holder that is gone may take it. */
export class Lease {
  readonly #file: string;
  #beat: NodeJS.Timeout | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get isHeld(): boolean {
    return this.#beat !== undefined;
  }

  /** Whether it is ours now. */
  async take(now = Date.now()): Promise<boolean> {
    if (this.isHeld) return true;
    if (!(await this.#write()) && !((await this.#isLeft(now)) && (await this.#takeOver()))) return false;
    this.#beat = setInterval(() => void this.#renew(), BEAT_MS).unref();
    return true;
  }

  async release(): Promise<void> {
    if (!this.isHeld) return;
    clearInterval(this.#beat);
    this.#beat = undefined;
    await rm(this.#file, { force: true }).catch(() => {});
  }

  async #write(): Promise<boolean> {
    const holder = JSON.stringify({ pid: process.pid, host: hostname() });
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 }).catch(() => {});
    return writeFile(this.#file, holder, { flag: "wx", mode: 0o600 }).then(
      () => true,
      () => false,
    );
  }

  async #takeOver(): Promise<boolean> {
    await rm(this.#file, { force: true }).catch(() => {});
    return this.#write();
  }

  async #isLeft(now: number): Promise<boolean> {
    try {
      const { pid, host } = holderIn(await readFile(this.#file, "utf8"));
      if (host === hostname() && typeof pid === "number") return !isAlive(pid);
      return now - (await stat(this.#file)).mtimeMs > STALE_MS;
    } catch {
      return false;
    }
  }

  async #renew(): Promise<void> {
    const now = new Date();
    await utimes(this.#file, now, now).catch(() => {});
  }
}

interface Holder {
  readonly pid?: unknown;
  readonly host?: unknown;
}

/** Of a file whose writer ended in the middle, or whose disk was full, only the time tells. */
function holderIn(text: string): Holder {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return {};
  }
}

/** Whether a process of this machine is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
