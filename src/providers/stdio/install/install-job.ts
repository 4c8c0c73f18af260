import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { orAborted } from "../../../core/wait.ts";
import { childEnvironment } from "../../../process/environment.ts";
import { Gate } from "../../../upstream/gate.ts";
import { installingProcess, logTail, readResult, toLines, type InstallResult } from "./install-files.ts";
import type { InstallJob } from "./minder.ts";

const POLL_MS = 200;
const FOLDER_MODE = 0o700;
/** Without a sign of life for this long, that is what is said. */
const QUIET_MS = 20_000;
/** Downloads that this process starts at once; one that stands still does not keep the others out. */
const DOWNLOADS = new Gate({ width: 4, holdMs: 45_000 });
const MAX_LINE_CHARS = 120;

export interface WatchedJob extends InstallJob {
  /** Where the files of all downloads lie. */
  readonly folder: string;
  /** Whether the caches grew since the last look. */
  readonly grew: () => boolean;
}

/** One download as this process sees it: done in a process of its own, be it that another hub started that. */
export class RunningInstall {
  readonly since = new Date();
  /** Never rejects. */
  readonly over: Promise<unknown>;
  readonly #done: Promise<InstallResult>;
  pid: number | undefined;
  waitsFor = "other downloads";
  readonly #job: WatchedJob;
  #lastLine = "";
  #signAt = performance.now();
  #waiting = 0;

  constructor(job: WatchedJob) {
    this.#job = job;
    this.#done = DOWNLOADS.run(() => this.#run(), NEVER.signal);
    this.over = this.#done.catch(() => {});
  }

  /** How it ended. It goes on when whoever waits gives up. */
  async ended(signal: AbortSignal): Promise<InstallResult> {
    this.#waiting += 1;
    try {
      return await orAborted(this.#done, signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #run(): Promise<InstallResult> {
    const { files, maxMs, folder } = this.#job;
    const wishedAt = this.since.getTime();
    this.#signAt = performance.now();
    try {
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    } catch (error) {
      return failed(String(error));
    }
    let own: Minder | undefined;
    for (;;) {
      const pid = installingProcess(files, maxMs);
      const result = pid === undefined ? readResult(files) : undefined;
      if (result && result.at >= wishedAt) return result;
      if (own?.isOver && pid === undefined) return failed(own.said);
      // Before its own process holds the lock, another one may come first: then this waits for that one.
      if (pid === undefined) own ??= startMinder(this.#job);
      else this.#look(pid, own?.pid);
      await pause(POLL_MS, undefined, { ref: this.#waiting > 0 });
    }
  }

  #look(pid: number, own: number | undefined): void {
    this.pid = pid;
    const line = logTail(this.#job.files).at(-1) ?? "";
    if (line !== this.#lastLine || this.#job.grew()) this.#signAt = performance.now();
    this.#lastLine = line;
    const quietMs = performance.now() - this.#signAt;
    const whose = pid === own ? "" : `the download of another hub, process ${pid}: `;
    const what = quietMs > QUIET_MS ? `no sign of life for ${Math.round(quietMs / 1000)} s` : line || "its cache grows";
    this.waitsFor = `${whose}${what.slice(0, MAX_LINE_CHARS)}`;
  }
}

const NEVER = new AbortController();

function failed(line: string): InstallResult {
  return { ok: false, at: Date.now(), reason: "start", lines: toLines(line) };
}

class Minder {
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

/** In a group of its own, with nothing of this process but what it is told. */
function startMinder({ folder: _folder, grew: _grew, ...job }: WatchedJob): Minder {
  const child = spawn(process.execPath, [minderFile()], {
    env: childEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(JSON.stringify(job));
  child.unref();
  for (const stream of [child.stdin, child.stderr]) (stream as { unref?(): void } | null)?.unref?.();
  return new Minder(child);
}

/** The built file, since Node itself runs it. */
function minderFile(): string {
  const here = fileURLToPath(new URL("minder-main.js", import.meta.url));
  return here.replace(/([\\/])src([\\/]providers[\\/]stdio[\\/]install[\\/]minder-main\.js)$/, "$1dist$2");
}
