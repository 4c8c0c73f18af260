import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Replaces a leading `~` by the user's home folder, as a shell does: `~` and `~/notes.md`, on Windows `~\notes.md` too.
 * Any other text, `~user/x` and `--file=~/x` included, is returned unchanged.
 */
export function expandHome(path: string): string {
  return HOME_PATH.test(path) ? join(homedir(), path.slice(1)) : path;
}

const HOME_PATH = process.platform === "win32" ? /^~(?:[\\/]|$)/ : /^~(?:\/|$)/;
