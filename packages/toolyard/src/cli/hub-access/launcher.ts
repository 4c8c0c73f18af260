import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../config/edit/replace-file.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { VERSION } from "../../core/version.ts";
import type { Io } from "../output/io.ts";
import { terminalPath } from "./desktop-environment.ts";
import { ownProgram } from "./own-program.ts";

/** Command and arguments with which a client starts Toolyard. */
export interface LauncherWords {
  readonly command: string;
  readonly args: readonly string[];
}

const MODE = 0o700;

/**
 * Returns the command that starts Toolyard through the launcher in the data folder. It contains no path of one version
 * of Node or Toolyard, nor of the cache of npx, so it stays valid after an upgrade.
 */
export function launcherWords(io: Io): LauncherWords {
  const file = launcherFile(io);
  if (process.platform !== "win32") return { command: file, args: [] };
  // A client on Windows cannot start a script without a shell.
  return { command: stableNode(process.execPath, io), args: [file] };
}

/**
 * Writes the launcher. It contains the current paths of Node and Toolyard, and finds them later if they have moved.
 */
export async function writeLauncher(io: Io): Promise<void> {
  const file = launcherFile(io);
  const places = { node: process.execPath, program: ownProgram(), path: terminalPath(io) };
  await replaceFile(file, process.platform === "win32" ? moduleText(places) : shellText(places));
  if (process.platform !== "win32") await chmod(file, MODE);
}

function launcherFile(io: Io): string {
  return join(dataFolder(io.env), "bin", process.platform === "win32" ? "toolyard.mjs" : "toolyard");
}

interface LauncherPlaces {
  readonly node: string;
  readonly program: string;
  readonly path: string;
}

const OF_NPX = /[\\/]_npx[\\/]/;
const NOT_FOUND = "Install it, then run `toolyard connect` again.";

/** Returns a launcher script for POSIX shells. Exported for its test. */
export function shellText({ node, program, path }: LauncherPlaces): string {
  return `#!/bin/sh
# Written by \`toolyard connect\`: starts Toolyard for desktop clients, also after Node or Toolyard was upgraded.
node=${quoted(node)}
program=${quoted(program)}
usable=${quoted(path)}
if [ ! -x "$node" ]; then
  node=$(PATH="$usable:$PATH" command -v node) || {
    echo "toolyard: Node.js was not found. ${NOT_FOUND.replaceAll("`", "\\`")}" >&2
    exit 127
  }
fi
if [ -f "$program" ]; then exec "$node" "$program" "$@"; fi
moved="\${node%/*}/../lib/node_modules/toolyard/dist/cli/main.js"
if [ -f "$moved" ]; then exec "$node" "$moved" "$@"; fi
PATH="\${node%/*}:$usable:$PATH"
export PATH
if command -v toolyard >/dev/null 2>&1; then exec toolyard "$@"; fi
${lastResort(program)}
`;
}

/**
 * Returns the last command of the launcher. It downloads Toolyard only for users who ran it by npx before, because a
 * registry may contain another package of this name, which other users never chose.
 */
function lastResort(program: string): string {
  if (OF_NPX.test(program)) return `exec npx --yes --prefer-offline toolyard@${VERSION} "$@"`;
  return `echo "toolyard: its files were not found. ${NOT_FOUND.replaceAll("`", "\\`")}" >&2\nexit 127`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the launcher for Windows as a module. Exported for its test. */
export function moduleText({ program }: Pick<LauncherPlaces, "program">): string {
  return `// Written by \`toolyard connect\`: starts Toolyard for desktop clients, also after it was upgraded.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const inPackage = ["node_modules", "toolyard", "dist", "cli", "main.js"];
const program = [
  ${JSON.stringify(program)},
  join(process.env.APPDATA ?? "", "npm", ...inPackage),
  join(dirname(process.execPath), ...inPackage),
].find((file) => existsSync(file));
if (program === undefined) {
  process.stderr.write(${JSON.stringify(`toolyard: its files were not found. ${NOT_FOUND}\n`)});
  process.exit(127);
}
process.argv[1] = program;
await import(pathToFileURL(program).href);
`;
}

/** Matches the folder of one version, or of one terminal session. */
const VERSIONED = /[\\/](?:v?\d+\.\d+(?:\.\d+)?|fnm_multishells)[\\/]/;

function stableNode(own: string, io: Io): string {
  if (!VERSIONED.test(own)) return own;
  const { ProgramFiles, NVM_SYMLINK, LOCALAPPDATA } = io.env;
  const folders = [
    NVM_SYMLINK,
    LOCALAPPDATA && join(LOCALAPPDATA, "Volta", "bin"),
    ProgramFiles && join(ProgramFiles, "nodejs"),
  ];
  const named = folders.flatMap((folder) => (folder ? [join(folder, "node.exe")] : []));
  return named.find((file) => existsSync(file)) ?? own;
}
