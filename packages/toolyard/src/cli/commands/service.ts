import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { locateConfig } from "../../config/locate.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { writeWhole } from "../../files/write-whole.ts";
import { EXIT, onFile, UsageError } from "../failure.ts";
import { ownProgram } from "../hub-access/own-program.ts";
import { assertAccepted } from "../input/consent.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { defineService, type ServiceDefinition } from "../service/definitions.ts";

interface Options extends SharedOptions {
  readonly dryRun?: boolean;
  readonly port?: string;
}

const LIMIT_MS = 30_000;
/** The service manager must be able to read the definition, and the definition contains no secret. */
const FILE_MODE = 0o644;

/** Runs `toolyard service install`. */
export const install: CommandAction<Options> = async (_args, options, io) => {
  const definition = await definitionFor(options, io);
  if (options.dryRun) return showPlan(definition, options, io);
  // After installation the system starts the hub, and no user can be asked then.
  await assertAccepted(options, io);
  const { path, text, manager } = definition;
  await onFile(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path, text, { mode: FILE_MODE });
  });
  for (const command of definition.install) await runManager(command, io);
  const message = `${manager} starts the hub now and at each log-in. \`toolyard service uninstall\` removes it.`;
  await say({ installed: true, manager, path }, [`Wrote ${path}.`, message], { options, io });
  return EXIT.ok;
};

/** Runs `toolyard service uninstall`. */
export const uninstall: CommandAction<Options> = async (_args, options, io) => {
  const definition = await definitionFor(options, io);
  const { path, manager } = definition;
  if (!existsSync(path)) throw new UsageError(`There is no service: ${path} does not exist.`);
  if (options.dryRun) return showPlan({ ...definition, install: definition.uninstall }, options, io);
  // The file is removed even if the service manager no longer knows the service.
  const failures: string[] = [];
  for (const command of definition.uninstall)
    await runManager(command, io).catch((error) => failures.push(String(error)));
  await rm(path, { force: true });
  await say({ installed: false, manager, path }, [`Removed ${path}.`, ...failures], { options, io });
  return EXIT.ok;
};

/** Runs `toolyard service status`. */
export const status: CommandAction<Options> = async (_args, options, io) => {
  const { path, manager, status: command } = await definitionFor(options, io);
  const isInstalled = existsSync(path);
  const isRunning =
    isInstalled &&
    (await runManager(command, io).then(
      () => true,
      () => false,
    ));
  const state = isRunning ? "running" : isInstalled ? "installed, but not running" : "not installed";
  await say({ installed: isInstalled, running: isRunning, manager, path }, [`${manager}: ${state} (${path}).`], {
    options,
    io,
  });
  return isRunning ? EXIT.ok : 1;
};

async function definitionFor({ config = [], port }: Options, io: Io): Promise<ServiceDefinition> {
  const files = locateConfig(config, io.env, io.cwd);
  const { PATH, Path, TOOLYARD_HOME, LOCALAPPDATA, XDG_CONFIG_HOME } = io.env;
  const path = PATH ?? Path;
  const args = [
    ownProgram(),
    "serve",
    ...files.flatMap((file) => ["--config", file]),
    ...(port === undefined ? [] : ["--port", port]),
  ];
  return defineService(
    {
      command: process.execPath,
      args,
      folder: homedir(),
      // PATH of this shell, so that servers find their programs.
      env: { ...(path !== undefined && { PATH: path }), ...(TOOLYARD_HOME !== undefined && { TOOLYARD_HOME }) },
    },
    {
      platform: process.platform,
      home: io.env["HOME"] ?? io.env["USERPROFILE"] ?? homedir(),
      uid: process.getuid?.() ?? 0,
      ...(LOCALAPPDATA !== undefined && { localAppData: LOCALAPPDATA }),
      ...(XDG_CONFIG_HOME !== undefined && { configHome: XDG_CONFIG_HOME }),
    },
  );
}

async function showPlan(definition: ServiceDefinition, { json }: Options, io: Io): Promise<number> {
  const { manager, path, text, install: commands } = definition;
  if (json) await printJson(io.stdout, { manager, path, text, commands });
  else {
    const lines = commands.map((command) => command.map((word) => shellWord(word)).join(" "));
    await print(io.stdout, [`# ${path}`, text.trimEnd(), "", "# then", ...lines].join("\n"));
  }
  return EXIT.ok;
}

async function say(
  facts: object,
  lines: readonly string[],
  { options, io }: { readonly options: Options; readonly io: Io },
): Promise<void> {
  if (options.json) await printJson(io.stdout, facts);
  else await print(io.stdout, lines.join("\n"));
}

function runManager([program = "", ...args]: readonly string[], io: Io): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: LIMIT_MS, windowsHide: true, env: io.env as NodeJS.ProcessEnv, signal: io.interrupted };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve();
      const said = `${stderr}${stdout}`.trim().split("\n")[0] ?? "";
      const line = [program, ...args].join(" ");
      reject(new UsageError(`\`${line}\` failed${said === "" ? "" : `: ${said}`}. Run it by hand to see more.`));
    });
  });
}
