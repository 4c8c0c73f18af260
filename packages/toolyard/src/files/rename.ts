import { renameSync } from "node:fs";
import { rename } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../core/errors.ts";

/** Error codes on Windows while a virus scanner or an indexer briefly holds a file. */
const BUSY = /^(?:EPERM|EACCES|EBUSY)$/;
/** Pauses before further attempts, in milliseconds: about 2 seconds in total. */
const PAUSES_MS: readonly number[] = [10, 20, 40, 80, 150, 300, 600, 800];

/** Functions that a test replaces. */
export interface RenameSystem {
  readonly platform: NodeJS.Platform;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly renameSync: (from: string, to: string) => void;
}

const LOCAL: RenameSystem = { platform: process.platform, rename, renameSync };

/** Renames a file or folder. On Windows, retries while another program holds it. Rejects with the last error. */
export async function renameFile(from: string, to: string, system: RenameSystem = LOCAL): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await system.rename(from, to);
    } catch (error) {
      await pause(pauseAfter(error, attempt, system));
    }
  }
}

/** Like `renameFile`, but synchronous. */
export function renameFileSync(from: string, to: string, system: RenameSystem = LOCAL): void {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return system.renameSync(from, to);
    } catch (error) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseAfter(error, attempt, system));
    }
  }
}

/** Returns the pause before the next attempt. Throws the error if there is no further attempt. */
function pauseAfter(error: unknown, attempt: number, { platform }: RenameSystem): number {
  const ms = PAUSES_MS[attempt];
  if (platform !== "win32" || ms === undefined || !BUSY.test(codeOf(error) ?? "")) throw error;
  return ms;
}
