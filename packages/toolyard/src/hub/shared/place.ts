import { lstat, mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { dataFolder } from "../../core/data-folder.ts";
import { contentDigest } from "../../core/json/digest.ts";
import { messageOf, OptionError } from "../../core/errors.ts";
import { VERSION } from "../../core/version.ts";

/** Meeting place of a user's clients and the hub of some configuration files. */
export interface SharedPlace {
  /** A Unix socket that this user alone may open, on Windows the name of a pipe. */
  readonly socket: string;
  /** Lock of a process that becomes the hub or starts one. */
  readonly lock: string;
  /** Log file of a hub that was started for clients. */
  readonly log: string;
}

export interface PlaceOptions {
  /** Absolute paths of the configuration files. */
  readonly files: readonly string[];
  /** Folder of relative paths if there is no file. */
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Limit of a socket's path: 103 bytes on macOS, 107 on Linux. */
const MAX_SOCKET_BYTES = 100;
const FOLDER_MODE = 0o700;

/**
 * Returns the meeting place of these files, this version and this data folder, and creates its folders. Throws an
 * `OptionError` if another user could access it.
 */
export async function sharedPlace({ files, cwd, variables }: PlaceOptions): Promise<SharedPlace> {
  const real = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
  const name = contentDigest(JSON.stringify([VERSION, real.length > 0 ? real : cwd])).slice(0, 16);
  const folder = join(dataFolder(variables), "shared");
  await makeOwn(folder);
  return namedPlace(folder, name);
}

/** Returns every place at which a hub of this data folder listens, or has listened and left a log. */
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
  // The data folder lies too deep. A fixed folder, so that every client of this user finds the same.
  const short = `/tmp/toolyard-${process.getuid?.() ?? 0}`;
  await makeOwn(short);
  return join(short, `${contentDigest(`${folder}/${name}`).slice(0, 24)}.sock`);
}

async function makeOwn(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE }).then(
    () => lstat(folder),
    (error: unknown) => {
      throw new OptionError(`${folder} cannot be made, where clients reach the shared hub: ${messageOf(error)}.`, {
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
