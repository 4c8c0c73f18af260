import { execFile } from "node:child_process";
import { messageOf } from "../core/errors.ts";
import { realPython } from "../process/interpreter.ts";
import { resolveCommand, type ResolvedCommand } from "../process/resolve-command.ts";
import { PYTHON_COMMANDS } from "../runtimes/scripts/command-line.ts";
import type { EngineFinding } from "./engine-findings.ts";
import type { Io } from "./output/io.ts";

const PROBE_WITHIN_MS = 5000;

/** Finds the programs that start scripts and servers. Windows has `sh` only with Git, and uses batch files. */
export function programFindings(io: Io, platform: NodeJS.Platform = process.platform): Promise<EngineFinding[]> {
  const isWindows = platform === "win32";
  const shellUse = isWindows ? "shell scripts (.sh); Git for Windows brings it" : "shell scripts";
  return Promise.all([
    pythonFinding(io),
    programFinding(["sh", "-c", "echo present"], shellUse, io),
    ...(isWindows ? [programFinding(["cmd", "/c", "echo present"], "batch files (.cmd, .bat)", io)] : []),
    programFinding(["npx", "--version"], "MCP servers that are started with npx", io),
    programFinding(["uvx", "--version"], "MCP servers that are started with uvx", io),
  ]);
}

/**
 * Finds the Python interpreter like scripts do: behind a version manager's shim, and not the alias of the Microsoft
 * Store.
 */
async function pythonFinding(io: Io): Promise<EngineFinding> {
  const use = "Python scripts and tool folders";
  const env = definedIn(io.env);
  let reason: string | undefined;
  for (const command of PYTHON_COMMANDS) {
    try {
      const found = await programFinding([await realPython(command, { env, cwd: io.cwd }), "--version"], use, io);
      return { ...found, what: "python3" };
    } catch (error) {
      reason ??= messageOf(error);
    }
  }
  return { what: "python3", ok: false, detail: `not found; without it: no ${use}. ${reason ?? ""}`.trim() };
}

/** Starts a program like the hub does, so that `npx.cmd` on Windows is found. */
function programFinding(
  [program, ...args]: readonly [string, ...string[]],
  use: string,
  io: Io,
): Promise<EngineFinding> {
  const absent: EngineFinding = { what: program, ok: false, detail: `not found; without it: no ${use}` };
  const env = definedIn(io.env);
  let resolved: ResolvedCommand;
  try {
    resolved = resolveCommand(program, args, { env, cwd: io.cwd });
  } catch {
    return Promise.resolve(absent);
  }
  const options = {
    timeout: PROBE_WITHIN_MS,
    signal: io.interrupted,
    env,
    windowsHide: true,
    windowsVerbatimArguments: resolved.verbatim,
  };
  return new Promise((done) => {
    execFile(resolved.file, [...resolved.args], options, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`.trim().split("\n")[0] ?? "";
      done(error ? absent : { what: program, ok: true, detail: `${text} (${use})` });
    });
  });
}

function definedIn(env: Io["env"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
