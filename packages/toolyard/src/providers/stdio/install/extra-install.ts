import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FailError } from "../../../core/errors.ts";
import { dataFolder } from "../../../core/data-folder.ts";
import { fail } from "../../../core/calls/outcome.ts";
import { extrasFolder } from "../../../extras/extras-folder.ts";
import type { Extra } from "../../../extras/extras.ts";
import { extraState } from "../../../extras/installed.ts";
import { childEnvironment } from "../../../process/environment.ts";
import { watchGrowth } from "./growth.ts";
import { installFailure } from "./install-advice.ts";
import { installFiles } from "./install-files.ts";
import { RunningInstall } from "./install-job.ts";
import type { EnvironmentVariables } from "../../../core/environment-variables.ts";

/** Time limit of the download of an extra. */
export const MAX_INSTALL_MS = 15 * 60_000;
/** Environment variables that determine the data folder and the registry of npm. */
const PASSED = /^(?:npm_config_.+|npm_execpath|TOOLYARD_HOME|XDG_DATA_HOME|XDG_CONFIG_HOME|LOCALAPPDATA|APPDATA)$/i;

/** A running install of an extra. It continues if no code waits for it. */
export interface RunningExtraInstall {
  readonly since: Date;
  readonly waitsFor: string;
  /** Id of the downloading process, once there is one. */
  readonly pid: number | undefined;
  /** Resolves when the extra is installed. Rejects with a `FailError` of kind `unavailable` if the install fails. */
  done(signal: AbortSignal): Promise<void>;
}

/**
 * Starts to install an extra, in a separate process that outlives this one. If another hub of this user already
 * installs it, waits for that install and downloads nothing.
 */
export function beginExtraInstall(extra: Extra, variables: EnvironmentVariables): RunningExtraInstall {
  const command = { command: process.execPath, args: [PROGRAM, extra.name] };
  const folder = join(dataFolder(variables), "installs");
  const install = new RunningInstall({
    install: command,
    env: environment(variables),
    files: installFiles(folder, `extra-${extra.name}-${extra.version}`),
    folder,
    maxMs: MAX_INSTALL_MS,
    grew: watchGrowth([extrasFolder(variables)]),
  });
  return {
    since: install.since,
    get waitsFor() {
      return install.waitsFor;
    },
    get pid() {
      return install.pid;
    },
    async done(signal) {
      const result = await install.ended(signal);
      const what = `extra ${extra.name}`;
      if (!result.ok) throw new FailError(installFailure(result, command, { what, maxMs: MAX_INSTALL_MS }));
      const { state } = extraState(extra, { variables });
      if (state === "beside" || state === "installed") return;
      throw new FailError(
        fail("unavailable", `The ${what} was installed and is missing now. Install it again.`, { retryable: false }),
      );
    },
  };
}

function environment(variables: EnvironmentVariables): Record<string, string> {
  const own = Object.entries(variables).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && PASSED.test(entry[0]),
  );
  return childEnvironment({ own: Object.fromEntries(own) });
}

/** Path of the built program, because Node itself runs it. */
const PROGRAM = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts") ? "../../dist/extras/install/main.js" : "../../../extras/install/main.js",
    import.meta.url,
  ),
);
