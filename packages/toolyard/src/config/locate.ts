import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

export const CONFIG_FILE_NAME = "toolyard.toml";

/**
 * Returns the user's configuration folder: `$XDG_CONFIG_HOME/toolyard`, `%APPDATA%\toolyard`, else
 * `~/.config/toolyard`.
 */
function userConfigFolder(variables: EnvironmentVariables, platform: NodeJS.Platform = process.platform): string {
  const home = variables["TOOLYARD_HOME"];
  if (home) return resolve(home);
  if (platform === "win32" && variables["APPDATA"]) return join(variables["APPDATA"], "toolyard");
  return join(variables["XDG_CONFIG_HOME"] || join(variables["HOME"] || homedir(), ".config"), "toolyard");
}

/** Returns the user's own file, whether it exists or not. */
export function userConfigFile(variables: EnvironmentVariables): string {
  return join(userConfigFolder(variables), CONFIG_FILE_NAME);
}

/**
 * Returns the configuration files: those of `--config` (any number), else `./toolyard.toml`, else that in the user's
 * folder, else none.
 */
export function locateConfig(
  named: readonly string[],
  variables: EnvironmentVariables,
  cwd: string,
): readonly string[] {
  if (named.length > 0) return named.map((file) => resolve(cwd, file));
  const here = join(cwd, CONFIG_FILE_NAME);
  if (existsSync(here)) return [here];
  const own = userConfigFile(variables);
  return existsSync(own) ? [own] : [];
}
