import { win32 } from "node:path";

/** A JavaScript file that a batch file written by npm starts with Node. */
export interface ShimTarget {
  /** Folder of the batch file; a `node.exe` there is used before the one on PATH. */
  readonly folder: string;
  readonly nodeArgs: readonly string[];
  readonly script: string;
  /** True for npm and npx, which start programs through `cmd.exe` with their own escaping. */
  readonly isNpm: boolean;
}

/** Machine-dependent functions and variables that `findShimTarget` needs. */
export interface ShimPlace {
  readonly variable: (name: string) => string | undefined;
  readonly isFile: (path: string) => boolean;
  /** Returns the text of a small file; `undefined` if it cannot be read or is longer than `MAX_SHIM_BYTES`. */
  readonly read: (path: string) => string | undefined;
}

/** Maximum size of a batch file that is read. The files of npm and pnpm have about 400 bytes. */
export const MAX_SHIM_BYTES = 4096;

/**
 * Finds the JavaScript file that a batch file starts: `npm.cmd` and `npx.cmd`, and the files that npm writes for the
 * programs of packages. Node can start it directly, so that its arguments never pass `cmd.exe`. Returns `undefined` for
 * a batch file that does anything else.
 */
export function findShimTarget(file: string, place: ShimPlace): ShimTarget | undefined {
  return npmTarget(file, place) ?? packageTarget(file, place);
}

/** Finds the script of npm. Like npm's own batch file, prefers an npm that `npm install --global npm` installed. */
function npmTarget(file: string, { variable, isFile }: ShimPlace): ShimTarget | undefined {
  const [, name] = /^(npm|npx)\.cmd$/i.exec(win32.basename(file)) ?? [];
  if (name === undefined) return undefined;
  const folder = win32.dirname(file);
  const scriptIn = (root: string): string => win32.join(root, `node_modules\\npm\\bin\\${name.toLowerCase()}-cli.js`);
  if (!isFile(scriptIn(folder))) return undefined;
  const appData = variable("APPDATA");
  const prefixes = [variable("npm_config_prefix"), appData === undefined ? undefined : win32.join(appData, "npm")];
  const roots = [...prefixes.filter((prefix) => prefix !== undefined && prefix !== ""), folder] as readonly string[];
  return { folder, nodeArgs: [], script: roots.map(scriptIn).find(isFile)!, isNpm: true };
}

/**
 * Lines of a file that npm writes, except the one that starts Node. A file with any other line was not written by npm.
 */
const KNOWN_LINES = [
  String.raw`@?echo off`,
  String.raw`goto start`,
  String.raw`:find_dp0`,
  String.raw`set dp0=%~dp0`,
  String.raw`exit /b`,
  String.raw`:start`,
  String.raw`@?setlocal`,
  String.raw`call :find_dp0`,
  String.raw`@?if exist "%(?:~dp0|dp0%)\\node\.exe" \(`,
  String.raw`set "_prog=(?:%dp0%\\node\.exe|node)"`,
  String.raw`\) else \(`,
  String.raw`@?set pathext=%pathext:;\.js;=;%`,
  String.raw`\)`,
];
const KNOWN_LINE = new RegExp(`^(?:${KNOWN_LINES.join("|")})$`, "i");

const START_LINE = new RegExp(
  String.raw`^(?:endlocal & goto #_undefined_# 2>nul \|\| title %comspec% & )?` +
    String.raw`(?:"%_prog%"|"%~dp0\\node\.exe"|node)((?: +--?[\w-]+(?:=[\w.,:-]+)?)*) +` +
    String.raw`"%(?:~dp0|dp0%)\\([^"%]+)" +%\*$`,
  "i",
);

function packageTarget(file: string, { isFile, read }: ShimPlace): ShimTarget | undefined {
  const text = read(file);
  if (text === undefined || !/_prog|~dp0\\node\.exe/i.test(text)) return undefined;
  const lines = text.split(/\r?\n/).flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const starts = lines.filter((line) => !KNOWN_LINE.test(line)).map((line) => START_LINE.exec(line));
  const [, flags = "", path = ""] = starts[0] ?? [];
  if (path === "" || !starts.every((start) => start?.[1] === flags && start[2] === path)) return undefined;
  const folder = win32.dirname(file);
  const script = win32.resolve(folder, path);
  if (!isFile(script)) return undefined;
  return { folder, nodeArgs: flags.split(" ").filter((flag) => flag !== ""), script, isNpm: false };
}
