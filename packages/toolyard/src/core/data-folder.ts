import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Returns the folder for data that is kept between runs: `$TOOLYARD_HOME/data`, otherwise `$XDG_DATA_HOME/toolyard`,
 * `%LOCALAPPDATA%\toolyard` on Windows, or `~/.local/share/toolyard`.
 */
export function dataFolder(
  variables: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = variables["TOOLYARD_HOME"];
  if (home) return join(resolve(home), "data");
  if (platform === "win32" && variables["LOCALAPPDATA"]) return join(variables["LOCALAPPDATA"], "toolyard");
  return join(variables["XDG_DATA_HOME"] || join(variables["HOME"] || homedir(), ".local", "share"), "toolyard");
}
