import type { ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { orAborted } from "../../../core/timing/wait.ts";
import { Gate } from "../../../upstream/links/gate.ts";
import { installingProcess, isStart, logTail, readResult, toLines, type InstallResult } from "./install-files.ts";
import { watchFamily } from "./family.ts";
import type { InstallJob } from "./supervised-install.ts";
import { spawnSupervisedInstall } from "./supervised-install-process.ts";
import type { CommandWords } from "./runner.ts";
import { firstChars } from "../../../core/text/truncate.ts";

const POLL_MS = 200;
const FOLDER_MODE = 0o700;
/** Time in milliseconds without activity after which the message reports inactivity. */
const QUIET_MS = 20_000;
/** Limits the number of downloads that this process starts concurrently. A stalled one no longer counts. */
const DOWNLOADS = new Gate({ width: 4, holdMs: 45_000 });
const MAX_LINE_CHARS = 120;

export interface WatchedJob extends Omit<InstallJob, "command" | "args"> {
  /** Command to run; absent: waits for another process and starts nothing. */
  readonly install?: CommandWords;
  /** Folder of the files of all downloads. */
  readonly folder: string;
  /** Returns whether the caches have grown since the last check. */
  readonly grew: () => boolean;
}

/** One download, as this process sees it. It runs in a separate process, which another hub may have started. */
export class RunningInstall {
  readonly since = new Date();
  /** Resolves when the download is over. Never rejects. */
  readonly over: Promise<unknown>;
  readonly #done: Promise<InstallResult>;
  pid: number | undefined;
  waitsFor = "waiting for other downloads";
  readonly #job: WatchedJob;
  #lastLine = "";
  #signAt = performance.now();
  #waiting = 0;
  #lookedAt = -Infinity;
  readonly #worked = watchFamily();

  constructor(job: WatchedJob) {
    this.#job = job;
    this.#done = DOWNLOADS.run(() => this.#run(), NEVER.signal);
    this.over = this.#done.catch(() => {});
  }

  /** Waits for the end and returns the result. The download continues if no code waits for it. */
  async ended(signal: AbortSignal): Promise<InstallResult> {
    this.#waiting += 1;
    try {
      return await orAborted(this.#done, signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #run(): Promise<InstallResult> {
    const { files, maxMs, folder, install } = this.#job;
    this.waitsFor = "the download begins";
    this.#signAt = performance.now();
    try {
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    } catch (error) {
      return failed(String(error));
    }
    let own: InstallProcess | undefined;
    for (;;) {
      const pid = installingProcess(files, maxMs);
      const result = pid === undefined ? this.#resultOf(own) : undefined;
      if (result) return result;
      // Another process may get the lock before the process started here. This process then waits for that other
      // process.
      if (pid === undefined) own ??= startSupervisedInstall(this.#job, install!);
      else if (this.#look(pid, own?.pid)) return NOTHING_MORE;
      await pause(POLL_MS, undefined, { ref: this.#waiting > 0 });
    }
  }

  /** Returns the result of the download; call it when no process is downloading. */
  #resultOf(own: InstallProcess | undefined): InstallResult | undefined {
    const result = readResult(this.#job.files);
    if (result && result.at >= this.since.getTime()) return result;
    if (own?.isOver) return failed(own.said);
    return this.#job.install ? undefined : NOTHING_MORE;
  }

  /**
   * Reads the last sign of activity of the process that holds the lock. Returns true if there was none for `QUIET_MS`
   * and the process is a server's start, which then counts as abandoned.
   */
  #look(pid: number, own: number | undefined): boolean {
    this.pid = pid;
    const line = logTail(this.#job.files).at(-1) ?? "";
    if (line !== this.#lastLine || this.#job.grew() || this.#isAtWork(pid)) this.#signAt = performance.now();
    this.#lastLine = line;
    const quietMs = performance.now() - this.#signAt;
    const whose = pid === own ? "" : `the download of another hub, process ${pid}: `;
    const what = quietMs > QUIET_MS ? `no activity for ${Math.round(quietMs / 1000)} s` : line || "its cache grows";
    this.waitsFor = `${whose}${firstChars(what, MAX_LINE_CHARS)}`;
    return quietMs > QUIET_MS && isStart(this.#job.files);
  }

  /**
   * Returns whether the process or a descendant has worked recently. Called only if there are no other signs of
   * activity, because it reads the list of all processes.
   */
  #isAtWork(pid: number): boolean {
    const now = performance.now();
    if (now - this.#signAt < QUIET_MS / 2 || now - this.#lookedAt < FAMILY_LOOK_MS) return false;
    this.#lookedAt = now;
    return this.#worked(pid);
  }
}

const NEVER = new AbortController();
const NOTHING_MORE: InstallResult = { ok: true, at: 0, lines: [] };
const FAMILY_LOOK_MS = 2000;

function failed(line: string): InstallResult {
  return { ok: false, at: Date.now(), reason: "start", lines: toLines(line) };
}

class InstallProcess {
  isOver = false;
  said = "The process that downloads was ended.";
  readonly pid: number | undefined;

  constructor(child: ChildProcess) {
    this.pid = child.pid;
    child.stderr?.once("data", (chunk: Buffer) => (this.said = chunk.toString("utf8")));
    child.once("error", (error) => {
      this.said = error.message;
      this.isOver = true;
    });
    child.once("close", () => (this.isOver = true));
  }
}

/** Starts the supervisor in a separate process group. It receives only the given data of this process. */
function startSupervisedInstall(
  { folder: _folder, grew: _grew, install: _install, ...job }: WatchedJob,
  words: CommandWords,
) {
  const child = spawnSupervisedInstall();
  child.stdin?.end(JSON.stringify({ ...job, ...words }));
  return new InstallProcess(child);
}
