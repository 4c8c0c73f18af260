import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname } from "node:path";
import { readStoredEnvironment, storeEnvironment } from "../../config/connect/environment-file.ts";
import { dataFolder } from "../../core/data-folder.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";
import { loginPath } from "../../process/login-path.ts";
import { desktopPath, enrichment, serverVariables, usablePath } from "../../process/server-environment.ts";
import type { Io } from "../output/io.ts";

/**
 * Stores the PATH of the terminal and of the login shell, proxies, certificates and installer settings for hubs that
 * desktop clients start.
 */
export async function storeTerminalEnvironment(io: Io): Promise<void> {
  const folder = dataFolder(io.env);
  const before = await readStoredEnvironment(folder);
  const terminal = { ...serverVariables(io.env), PATH: terminalPath(io) };
  const now = { ...terminal, ...enrichment(terminal, { PATH: await loginPath(io.env) }) };
  // Folders from an earlier run are kept as long as they exist, so that a new `connect` does not remove a program from
  // PATH.
  const kept = (before["PATH"] ?? "").split(delimiter).filter((one) => existsSync(one));
  const all = { ...now, ...enrichment(now, { PATH: kept.join(delimiter) }) };
  await storeEnvironment(folder, all);
}

/** Returns the PATH that `connect` stores. */
export function terminalPath(io: Io): string {
  const home = io.env["HOME"] ?? io.env["USERPROFILE"] ?? homedir();
  return usablePath({ home, platform: process.platform, variables: io.env, nodeFolder: dirname(process.execPath) });
}

/**
 * Adds the stored environment to the variables of this process, because a desktop client started it with few variables.
 */
export async function addStoredEnvironment(variables: Record<string, string | undefined>): Promise<void> {
  const stored = await readStoredEnvironment(dataFolder(variables));
  Object.assign(variables, enrichment(variables, stored, { prefersOther: true }));
}

/** Returns the variables that servers need, as they are in a hub that a desktop client starts. */
export async function desktopEnvironment(io: Io): Promise<EnvironmentVariables> {
  const bare = { PATH: desktopPath(process.platform, io.env) };
  const stored = await readStoredEnvironment(dataFolder(io.env));
  return { ...bare, ...enrichment(bare, stored, { prefersOther: true }) };
}
