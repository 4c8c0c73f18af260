import { join } from "node:path";
import type { Installs, InstallWish } from "../providers/installs.ts";
import { watchGrowth } from "../providers/stdio/install/growth.ts";
import { installFiles, installingProcess, readResult } from "../providers/stdio/install/install-files.ts";
import { RunningInstall } from "../providers/stdio/install/install-job.ts";

/** Running installations of this process, by record folder and key. */
const RUNNING = new Map<string, RunningInstall>();

/**
 * Creates the service that installs packages for tools of folders. It uses the record folder and the installer of the
 * installs of servers.
 */
export function createInstalls(folder: string): Installs {
  return {
    begin: (wish) => begin(folder, wish),
    last: (key) => readResult(installFiles(folder, key)),
    isRunning: (key, maxMs) => installingProcess(installFiles(folder, key), maxMs) !== undefined,
  };
}

function begin(folder: string, { key, command, maxMs, folders }: InstallWish): RunningInstall {
  const place = join(folder, key);
  const there = RUNNING.get(place);
  if (there) return there;
  const { command: program, args, ...surroundings } = command;
  const made = new RunningInstall({
    ...surroundings,
    install: { command: program, args },
    files: installFiles(folder, key),
    folder,
    maxMs,
    grew: watchGrowth(folders),
  });
  RUNNING.set(place, made);
  void made.over.then(() => RUNNING.delete(place));
  return made;
}
