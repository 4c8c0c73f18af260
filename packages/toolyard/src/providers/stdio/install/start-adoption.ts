import { rmSync } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { readProcess } from "../../../process/process-table.ts";
import { StderrTail } from "../../../process/stderr-tail.ts";
import { isAlive } from "../../../files/file-lock.ts";
import { writeWholeSync } from "../../../files/write-whole.ts";
import { killTree, type Tree } from "../../../process/tree.ts";
import { endFamily, livingFamily } from "../../../process/windows-family.ts";
import { cacheIdentity, toLines, type InstallFiles } from "./install-files.ts";
import { InstallLog, writeResult } from "./supervised-install.ts";

/** Start of a server that is still downloading its packages, and whose hub has ended. */
export interface AdoptedStart {
  readonly tree: Pick<Tree, "pid" | "marker" | "startedAt">;
  /** Start time in milliseconds since 1970. */
  readonly bornAtMs: number;
  readonly files: InstallFiles;
  /** Remaining time in milliseconds when this process starts. */
  readonly maxMs: number;
  readonly cacheFolder?: string;
}

/** Descriptors of the child's outputs, which the parent process passed on. */
export const ADOPTED_STDOUT = 3;
export const ADOPTED_STDERR = 4;

const IS_WINDOWS = process.platform === "win32";
/** Interval of the checks. On Windows, listing the processes takes almost a second. */
const POLL_MS = IS_WINDOWS ? 5000 : 250;
const KILL_GRACE_MS = 5000;

/**
 * Waits until a start has finished its download: the server writes its first message or exits, or the time has expired.
 * Meanwhile, the lock of the download names this process.
 */
export async function adopt(start: AdoptedStart, ended: AbortSignal): Promise<void> {
  const { files, maxMs, cacheFolder } = start;
  writeWholeSync(files.lock, String(process.pid));
  const said = new StderrTail({ maxLines: MAX_LINES });
  const log = new InstallLog(files, said);
  const spoke = new AbortController();
  const over = AbortSignal.any([spoke.signal, ended]);
  const outputs = IS_WINDOWS
    ? []
    : [listen(ADOPTED_STDOUT, () => spoke.abort()), listen(ADOPTED_STDERR, (chunk) => log.keep(chunk))];
  try {
    // The clock of `performance.now()` starts at 0 with this process, so it is the elapsed time.
    while (!over.aborted && performance.now() < maxMs && (await isThere(start))) await pause(POLL_MS);
    await end(start);
    // The next start determines whether the download succeeded.
    const cache = spoke.signal.aborted ? cacheIdentity(cacheFolder) : UNKNOWN;
    writeResult(files, { ok: true, at: Date.now(), lines: toLines(said.text()), cache });
  } finally {
    for (const output of outputs) output.destroy();
    rmSync(files.lock, { force: true });
  }
}

const MAX_LINES = 15;
const UNKNOWN = "unknown";

function listen(fd: number, onChunk: (chunk: Buffer) => void): Socket {
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.on("error", () => {});
  socket.on("data", onChunk);
  return socket;
}

async function isThere({ tree: { pid, startedAt }, bornAtMs }: AdoptedStart): Promise<boolean> {
  if (IS_WINDOWS) return (await livingFamily({ pid, bornAtMs }))?.length !== 0;
  const row = readProcess(pid);
  if (row) return row.startedAt === startedAt && !row.isZombie;
  return startedAt === 0 && isAlive(pid);
}

function end({ tree, bornAtMs }: AdoptedStart): Promise<void> {
  if (IS_WINDOWS) return endFamily({ pid: tree.pid, bornAtMs });
  return killTree({ ...tree, bornAt: -Infinity }, KILL_GRACE_MS);
}
