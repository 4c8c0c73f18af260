import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";

const BEAT_MS = 10_000;
/**
 * Age after which a lease is stale. The file's modification time is the only sign of life of a holder on another
 * machine.
 */
const STALE_MS = 30_000;
/**
 * Maximum time for taking over a lease, which needs a few system calls. A process that takes longer has exited
 * meanwhile.
 */
const CLAIM_MS = 10_000;

/** A lock file that one process holds at a time. Another process may take it when the holder has exited. */
export class Lease {
  readonly #file: string;
  #beat: NodeJS.Timeout | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  get isHeld(): boolean {
    return this.#beat !== undefined;
  }

  /** Takes the lease if possible. Returns whether this process holds it now. */
  async take(now = Date.now()): Promise<boolean> {
    if (this.isHeld) return true;
    if (!(await this.#write(this.#file)) && !(await this.#takeOver(now))) return false;
    this.#beat = setInterval(() => void this.#renew(), BEAT_MS).unref();
    return true;
  }

  async release(): Promise<void> {
    if (!this.isHeld) return;
    clearInterval(this.#beat);
    this.#beat = undefined;
    await remove(this.#file);
  }

  async #write(file: string): Promise<boolean> {
    const holder = JSON.stringify({ pid: process.pid, host: hostname() });
    await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => {});
    return writeFile(file, holder, { flag: "wx", mode: 0o600 }).then(
      () => true,
      () => false,
    );
  }

  /**
   * Takes over the lease of a process that has exited. Only one process does so at a time, and it checks again first,
   * so that no process removes a lease that another has just taken.
   */
  async #takeOver(now: number): Promise<boolean> {
    if (!(await this.#isLeft(now))) return false;
    const claim = `${this.#file}.claim`;
    if (!(await this.#write(claim))) {
      if (await isOlder(claim, CLAIM_MS)) await remove(claim);
      return false;
    }
    try {
      if (!(await this.#isLeft(now))) return false;
      await remove(this.#file);
      return await this.#write(this.#file);
    } finally {
      await remove(claim);
    }
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

async function remove(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => {});
}

async function isOlder(file: string, ms: number): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ms;
}

interface Holder {
  readonly pid?: unknown;
  readonly host?: unknown;
}

/** Returns the holder. After a crash or with a full disk the file may be incomplete; then only its time counts. */
function holderIn(text: string): Holder {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return {};
  }
}

/** Returns whether this process of this machine is running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
