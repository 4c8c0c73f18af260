import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../../../process/environment.ts";

/**
 * Starts the process that outlives this one, in a separate process group. It receives only the data on its standard
 * input and the given streams. It does not keep this process alive.
 */
export function spawnSupervisedInstall(more: readonly Readable[] = []): ChildProcess {
  const child = spawn(process.execPath, [supervisedInstallFile()], {
    env: childEnvironment(),
    detached: true,
    windowsHide: true,
    stdio: ["pipe", "ignore", "pipe", ...more],
  });
  child.stdin?.on("error", () => {});
  child.unref();
  for (const stream of [child.stdin, child.stderr]) (stream as { unref?(): void } | null)?.unref?.();
  return child;
}

/** Returns the path of the built file, because Node itself runs it. */
function supervisedInstallFile(): string {
  const here = fileURLToPath(new URL("supervised-install-main.js", import.meta.url));
  return here.replace(/([\\/])src([\\/]providers[\\/]stdio[\\/]install[\\/]supervised-install-main\.js)$/, "$1dist$2");
}
