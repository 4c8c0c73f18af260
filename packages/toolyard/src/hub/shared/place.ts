import { lstat, mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../../core/data-folder.ts";
import { contentDigest } from "../../core/json/digest.ts";
import { messageOf, OptionError } from "../../core/errors.ts";
import { VERSION } from "../../core/version.ts";

/** Files by which a user's clients find the shared hub of certain configuration files. */
export interface SharedPlace {
  /** Path of a Unix socket that only this user may open; on Windows the name of a pipe. */
  readonly socket: string;
  /** Lock file of the process that becomes the hub or starts one. */
  readonly lock: string;
  /** Log file of a hub that was started by a client. */
  readonly log: string;
}

export interface PlaceOptions {
  /** Absolute paths of the configuration files. */
  readonly files: readonly string[];
  /** Folder in which relative paths start if there is no configuration file. */
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Maximum length of a socket's path in bytes: systems allow 103 on macOS and 107 on Linux. */
const MAX_SOCKET_BYTES = 100;
const FOLDER_MODE = 0o700;

/**
 * Returns the place for these configuration files, this program version and this data folder, and creates its folders.
 * Throws an `OptionError` if another user could access it.
 */
export async function sharedPlace({ files, cwd, variables }: PlaceOptions): Promise<SharedPlace> {
  const real = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
  const name = contentDigest(JSON.stringify([VERSION, real.length > 0 ? real : cwd])).slice(0, 16);
  const folder = join(dataFolder(variables), "shared");
  await makeOwn(folder);
  return namedPlace(folder, name);
}

/** Returns all places at which a hub of this data folder listens, or has left a log. */
export async function knownPlaces(variables: PlaceOptions["variables"]): Promise<readonly SharedPlace[]> {
  const folder = join(dataFolder(variables), "shared");
  const entries = await readdir(folder).catch(() => []);
  const names = new Set(entries.flatMap((entry) => /^([\da-f]{16})\.(?:sock|log)$/.exec(entry)?.[1] ?? []));
  return Promise.all([...names].toSorted().map((name) => namedPlace(folder, name)));
}

async function namedPlace(folder: string, name: string): Promise<SharedPlace> {
  return {
    socket: await socketPath(folder, name),
    lock: join(folder, `${name}.lock`),
    log: join(folder, `${name}.log`),
  };
}

async function socketPath(folder: string, name: string): Promise<string> {
  if (process.platform === "win32") return `\\\\.\\pipe\\toolyard-${contentDigest(folder).slice(0, 16)}-${name}`;
  const near = join(folder, `${name}.sock`);
  if (Buffer.byteLength(near) <= MAX_SOCKET_BYTES) return near;
  // The path of the data folder is too long for a socket. This fixed folder is used instead, so that all clients of
  // this user find it.
  const short = `/tmp/toolyard-${process.getuid?.() ?? 0}`;
  await makeOwn(short);
  return join(short, `${contentDigest(`${folder}/${name}`).slice(0, 24)}.sock`);
}

async function makeOwn(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE }).then(
    () => lstat(folder),
    (error: unknown) => {
      throw new OptionError(`${folder} cannot be created, in which clients find the shared hub: ${messageOf(error)}.`, {
        cause: error,
      });
    },
  );
  if (process.platform === "win32") return;
  if (made.isDirectory() && made.uid === process.getuid?.() && (made.mode & 0o077) === 0) return;
  throw new OptionError(
    `${folder} must be a folder that you alone may use, since clients reach the shared hub there. ` +
      "`chmod 700` it, or remove it.",
  );
}
