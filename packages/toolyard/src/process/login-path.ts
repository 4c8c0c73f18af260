import { spawn } from "node:child_process";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

/** Maximum time of the login shell: a start-up file may wait for input or for the network. */
const SHELL_MS = 5000;
/** Maximum size of the login shell's output: start-up files may print texts too. */
const MAX_OUTPUT = 1 << 20;
/** Encloses the PATH in the output. */
const MARK = "__toolyard_path__";

/**
 * Returns the PATH that the user's login shell (`SHELL`) sets. Version managers often add their folders only there, and
 * a terminal of an editor may lack them. Returns `undefined` on Windows, without `SHELL`, or if the shell fails or does
 * not answer in time.
 *
 * @example
 *   const path = await loginPath(process.env); // "/home/me/.nvm/versions/node/v22.1.0/bin:/usr/bin:/bin"
 */
export async function loginPath(variables: EnvironmentVariables, limitMs = SHELL_MS): Promise<string | undefined> {
  const { SHELL: shell } = variables;
  if (process.platform === "win32" || shell === undefined || shell === "") return undefined;
  const output = await outputOf(shell, ["-l", "-i", "-c", `printf '%s' '${MARK}'"$PATH"'${MARK}'`], {
    variables,
    limitMs,
  });
  const parts = output.split(MARK);
  // Without the second mark the PATH is incomplete, because the shell was ended before it had printed everything.
  return parts.length > 2 ? parts[1] : undefined;
}

interface ShellOptions {
  readonly variables: EnvironmentVariables;
  readonly limitMs: number;
}

/** Resolves with what a command wrote to stdout until it ended, exceeded a limit, or could not start. Never rejects. */
function outputOf(command: string, args: readonly string[], { variables, limitMs }: ShellOptions): Promise<string> {
  // In a session of its own, an interactive shell cannot take over the user's terminal.
  const child = spawn(command, args, { env: variables, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The error is ignored: the process group has already ended.
    }
    // A process that left the group may still hold the pipe.
    child.stdout.destroy();
  };
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    output += text;
    if (output.length > MAX_OUTPUT || output.split(MARK).length > 2) end();
  });
  const timer = setTimeout(end, limitMs);
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      resolve(output);
    };
    child.once("error", finish);
    child.once("close", finish);
  });
}
