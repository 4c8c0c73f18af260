import { AcceptedFiles, foreignFile, type ForeignFile } from "../../config/accepted-files.ts";
import { keepAccepted } from "../../config/edit/keep-accepted.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { CONFIG_FILE_NAME, locateConfig } from "../../config/locate.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { messageOf } from "../../core/errors.ts";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { SharedOptions } from "../rows/command-row.ts";
import { UsageError } from "../failure.ts";
import { print, type Io } from "../output/io.ts";

/** Files that this process accepted, used if the data folder is not writable. */
const accepted = new Set<string>();

/**
 * Checks whether the configuration file found in this folder may start the programs that it names. A file that another
 * user may have written needs the user's consent once, at a terminal, and again if the programs change. `--config` and
 * `--yes` accept it. Returns the reason if it is not accepted and no user could be asked. Throws a `UsageError` if the
 * user refuses.
 */
export async function consent(options: SharedOptions, io: Io): Promise<string | undefined> {
  if (options.url !== undefined) return undefined;
  const isNamed = options.config !== undefined && !options.found;
  for (const file of locateConfig(options.config ?? [], io.env, io.cwd)) {
    const foreign = await foreignOf(file, isNamed, io);
    if (!foreign || (await isAccepted(foreign, io))) continue;
    if (isNamed || options.yes) await accept(foreign, io);
    else if (options.json || !io.ask) return unaccepted(foreign);
    else await ask(foreign, io);
  }
  return undefined;
}

/**
 * Throws a `UsageError` unless the configuration file found in this folder may start the programs that it names. Must
 * be called by every command that starts, imports, writes or sends something because of the configuration.
 */
export async function assertAccepted(options: SharedOptions, io: Io): Promise<void> {
  const message = await consent(options, io);
  if (message !== undefined) throw new UsageError(`${message} Nothing was started.`);
}

/** Writes a file like `keepAccepted`, and records the acceptance for this user. */
export function writeAccepted<T>(file: string, io: Io, write: () => Promise<T>): Promise<T> {
  const acceptance = {
    schema: CONFIG_SCHEMA,
    has: (foreign: ForeignFile) => isAccepted(foreign, io),
    accept: (foreign: ForeignFile) => accept(foreign, io),
  };
  return keepAccepted(file, acceptance, write);
}

/**
 * Returns the file if another user may have written it. Only files that Toolyard finds automatically matter:
 * `toolyard.toml` in this folder, or a named `toolyard.toml`, which would be found in its own folder.
 */
async function foreignOf(file: string, isNamed: boolean, io: Io): Promise<ForeignFile | undefined> {
  const isHere = file === join(io.cwd, CONFIG_FILE_NAME);
  if (!isHere && !(isNamed && basename(file) === CONFIG_FILE_NAME)) return undefined;
  // A missing file is not checked here: the loader reports it.
  return existsSync(file) ? foreignFile(file, CONFIG_SCHEMA) : undefined;
}

function keyOf({ path, digest }: ForeignFile): string {
  return `${digest} ${path}`;
}

async function isAccepted(foreign: ForeignFile, io: Io): Promise<boolean> {
  return accepted.has(keyOf(foreign)) || (await new AcceptedFiles(dataFolder(io.env)).has(foreign));
}

async function accept(foreign: ForeignFile, io: Io): Promise<void> {
  accepted.add(keyOf(foreign));
  try {
    await new AcceptedFiles(dataFolder(io.env)).accept(foreign);
  } catch (error) {
    if (io.ask) await print(io.stderr, `That ${foreign.path} is accepted cannot be noted: ${messageOf(error)}`);
  }
}

async function ask(foreign: ForeignFile, io: Io): Promise<void> {
  const { path, why, starts } = foreign;
  await print(io.stderr, [`${path} ${why}, and it starts:`, ...starts.map((line) => `  ${line}`)].join("\n"));
  if (await io.ask?.("Start that, now and from now on? [y/N] ", false)) return accept(foreign, io);
  throw new UsageError(
    `${path} was not accepted, so nothing was started. \`--yes\` accepts it, and --config names another file.`,
  );
}

function unaccepted({ path, why, starts }: ForeignFile): string {
  const what = `${path} ${why}, and no user has accepted the programs it starts: ${starts.join("; ")}.`;
  return `${what} Look at it, then accept it with \`toolyard config --yes\`, or with --yes on this command.`;
}
