import { mkdirSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { messageOf } from "../../../core/errors.ts";
import { spawnChild } from "../../../process/child.ts";
import { LockTaken, withFileLock } from "../../../files/file-lock.ts";
import { writeWholeSync } from "../../../files/write-whole.ts";
import { StderrTail } from "../../../process/stderr-tail.ts";
import { cacheIdentity, LOCK_MARGIN_MS, toLines, type InstallFiles, type InstallResult } from "./install-files.ts";
import { SCRATCH, type CommandWords } from "./runner.ts";

/** The job of one download, as written to the supervisor's standard input. */
export interface InstallJob extends CommandWords {
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: InstallFiles;
  readonly maxMs: number;
  readonly scratchFiles?: Readonly<Record<string, string>>;
  readonly cacheFolder?: string;
}

const PRIVATE_MODE = 0o600;
const MAX_LOG_BYTES = 256 * 1024;
const MAX_RESULT_LINES = 15;
const KILL_GRACE_MS = 5000;
const DRAIN_MS = 2000;
/** Matches messages of temporary failures: npm's own folders were in conflict, and the next attempt succeeds. */
const PASSING = /ECOMPROMISED|ENOTEMPTY/;

/** Downloads under the lock of the package, and records the result. Does nothing if another process holds the lock. */
export async function superviseInstall(job: InstallJob, ended: AbortSignal): Promise<void> {
  const { files, maxMs } = job;
  try {
    await withFileLock(files.lock, () => download(job, ended), { waitMs: 0, staleMs: maxMs + LOCK_MARGIN_MS });
  } catch (error) {
    if (!(error instanceof LockTaken)) throw error;
  }
}

async function download(job: InstallJob, ended: AbortSignal): Promise<void> {
  const { files, maxMs, cacheFolder } = job;
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), maxMs);
  ended.addEventListener("abort", () => end.abort(), { once: true });
  if (ended.aborted) end.abort();
  const said = new StderrTail({ maxLines: MAX_RESULT_LINES });
  let failure = await attempt(job, end.signal, said);
  const isPassing = failure !== undefined && !end.signal.aborted && PASSING.test(said.text());
  if (isPassing) failure = await attempt(job, end.signal, said);
  clearTimeout(timer);
  const reason = ended.aborted ? "ended" : end.signal.aborted ? "timeout" : failure;
  writeResult(files, {
    ok: reason === undefined,
    at: Date.now(),
    lines: toLines(said.text()),
    ...(reason !== undefined && { reason }),
    cache: cacheIdentity(cacheFolder),
  });
}

/** Runs the command once. Returns the reason of a failure, or undefined after success. */
async function attempt(job: InstallJob, end: AbortSignal, said: StderrTail): Promise<string | undefined> {
  const { files, command, cwd, env, scratchFiles } = job;
  const args = job.args.map((word) => (word === SCRATCH ? files.scratch : word));
  const log = new InstallLog(files, said);
  if (scratchFiles) {
    mkdirSync(files.scratch, { recursive: true });
    for (const [name, text] of Object.entries(scratchFiles)) writeFileSync(`${files.scratch}/${name}`, text);
  }
  try {
    const child = await spawnChild({ command, args, env, ...(cwd !== undefined && { cwd }) });
    child.stdin.end();
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => log.keep(chunk));
    const kill = (): void => void child.kill(KILL_GRACE_MS);
    end.addEventListener("abort", kill, { once: true });
    if (end.aborted) kill();
    const { code, signal } = await child.exited;
    await child.drained(DRAIN_MS);
    end.removeEventListener("abort", kill);
    await child.kill(0);
    return code === 0 ? undefined : `exit ${signal ?? code ?? ""}`;
  } catch (error) {
    said.push(Buffer.from(messageOf(error)));
    return "start";
  } finally {
    if (scratchFiles) rmSync(files.scratch, { recursive: true, force: true });
  }
}

/** Writes a program's output to a file for waiting processes, up to a limit. */
export class InstallLog {
  readonly #log: string;
  readonly #said: StderrTail;
  #bytes = 0;

  constructor({ log }: InstallFiles, said: StderrTail) {
    this.#log = log;
    this.#said = said;
    tryTo(() => writeFileSync(log, "", { mode: PRIVATE_MODE }));
  }

  keep(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#said.push(chunk);
    if (this.#bytes <= MAX_LOG_BYTES) tryTo(() => appendFileSync(this.#log, chunk));
  }
}

export function writeResult({ result }: InstallFiles, value: InstallResult): void {
  try {
    writeWholeSync(result, JSON.stringify(value));
  } catch (error) {
    // If the result cannot be written, for example because the disk is full, the hub that started this process still
    // gets the output.
    process.stderr.write([...value.lines, messageOf(error)].join("\n"));
  }
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // The result cannot be reported to any process, so the error is ignored.
  }
}
