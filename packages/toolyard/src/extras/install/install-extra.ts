import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { codeOf } from "../../core/errors.ts";
import { spawnChild } from "../../process/child.ts";
import { extraFolder, extrasFolder, LOADER_FILE } from "../extras-folder.ts";
import type { Extra } from "../extras.ts";
import { linkSelf } from "../self-link.ts";
import { packagesOf, readLockFile, type LockFile } from "./lock-file.ts";
import { findNpm } from "./npm-command.ts";
import { NpmProgress } from "./npm-progress.ts";
import type { EnvironmentVariables } from "../../core/environment-variables.ts";

export interface InstallExtraOptions {
  /** Variables that determine the data folder. */
  readonly variables: EnvironmentVariables;
  /** Environment of npm, with its settings and proxies. */
  readonly env: Readonly<Record<string, string>>;
  /** Called with each line of progress and each message of npm. */
  readonly say: (line: string) => void;
}

const FOLDER_MODE = 0o700;
const STAGING = ".staging-";
const DRAIN_MS = 2000;
/**
 * Number of attempts to rename a folder. On Windows another program, such as a virus scanner, may briefly hold a file
 * in it.
 */
const RENAME_TRIES = 20;
const RENAME_PAUSE_MS = 250;
/**
 * Flags that override user settings which would change the installed packages. Package scripts do not run. Registry,
 * login and proxies are the user's.
 */
const NPM_FLAGS = [
  "--ignore-scripts",
  "--package-lock=true",
  "--include=prod",
  "--include=optional",
  "--include=peer",
  "--install-strategy=hoisted",
  "--legacy-peer-deps=false",
  "--global=false",
  "--dry-run=false",
  "--audit=false",
  "--fund=false",
  "--update-notifier=false",
  "--progress=false",
  "--color=false",
  "--loglevel=http",
];
const LOADER = "export const load = (specifier) => import(specifier);\n";

/**
 * Installs an extra into the data folder: runs `npm ci` with the pinned lock file in a staging folder, and renames the
 * folder when it is complete. Returns immediately if the extra is installed. The caller must ensure that only one
 * process does this at a time. Rejects if npm fails; the staging folder is then removed.
 */
export async function installExtra(extra: Extra, options: InstallExtraOptions): Promise<void> {
  const lock = readLockFile(extra);
  const target = extraFolder(extra.name, options.variables);
  if (isComplete(lock, target)) return;
  const root = extrasFolder(options.variables);
  mkdirSync(root, { recursive: true, mode: FOLDER_MODE });
  removeLeftovers(root, extra);
  const staging = join(root, `${STAGING}${extra.name}-${randomBytes(6).toString("hex")}`);
  try {
    writeProject(staging, lock);
    await runNpm(staging, lock, options);
    if (extra.isOwn) linkSelf(join(staging, "node_modules"));
    if (!isComplete(lock, staging)) throw new Error("npm reported no error, but packages are missing.");
    await moveInto(staging, target, lock);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Returns whether all packages for this platform are installed in their pinned versions. */
export function isComplete(lock: LockFile, folder: string): boolean {
  return packagesOf(lock).every(([place, { version, optional }]) => {
    const found = installedVersion(join(folder, place));
    return found === version || (found === undefined && optional === true);
  });
}

function installedVersion(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: string }).version;
  } catch {
    return undefined;
  }
}

/** Removes the folders of killed attempts. The caller's lock ensures that none is in use. */
function removeLeftovers(root: string, { name }: Extra): void {
  for (const entry of readdirSync(root))
    if (entry.startsWith(`${STAGING}${name}-`)) rmSync(join(root, entry), { recursive: true, force: true });
}

function writeProject(folder: string, lock: LockFile): void {
  mkdirSync(folder, { mode: FOLDER_MODE });
  const manifest = { ...lock.packages[""], private: true };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  writeFileSync(join(folder, LOADER_FILE), LOADER);
}

async function runNpm(folder: string, lock: LockFile, { env, say }: InstallExtraOptions): Promise<void> {
  const { command, args } = findNpm(env);
  const all = [...args, "ci", `--prefix=${folder}`, ...NPM_FLAGS];
  const child = await spawnChild({ command, args: all, cwd: folder, env });
  child.stdin.end();
  const progress = new NpmProgress(packagesOf(lock).length, say);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => progress.push(text));
  const { code, signal } = await child.exited;
  await child.drained(DRAIN_MS);
  progress.end();
  await child.kill(0);
  if (code !== 0) throw new Error(`npm failed with ${signal ?? `exit code ${code ?? ""}`}.`);
}

async function moveInto(staging: string, target: string, lock: LockFile): Promise<void> {
  mkdirSync(dirname(target), { recursive: true, mode: FOLDER_MODE });
  for (let tries = 1; ; tries += 1) {
    try {
      // The target is removed first, because it may contain an incomplete installation.
      rmSync(target, { recursive: true, force: true });
      renameSync(staging, target);
      return;
    } catch (error) {
      if (isComplete(lock, target)) return;
      const mayPass = process.platform === "win32" && /^(?:EPERM|EACCES|EBUSY)$/.test(String(codeOf(error)));
      if (!mayPass || tries >= RENAME_TRIES) throw error;
      await pause(RENAME_PAUSE_MS);
    }
  }
}
