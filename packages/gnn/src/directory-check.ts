import { mkdir, opendir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { replaceFile } from "toolyard/service/replace-file";
import { checkGnn } from "./checks/check.ts";
import { LIMITS } from "./language/limits.ts";
import type { ProfileName } from "./language/profiles.ts";
import { toTypeCheck, type TypeCheckResult } from "./type-check.ts";

/** Maximum number of files, and maximum depth of folders, in one check. */
export const DIRECTORY_LIMITS = { files: 10_000, depth: 32 } as const;

const ENDINGS = new Set([".md", ".gnn", ".csv"]);
/** Maximum size in bytes. One UTF-16 code unit has at most three bytes in UTF-8. */
const MAX_BYTES = LIMITS.characters * 3;

export interface DirectoryCheckOptions {
  /** True if subfolders are checked too. @default false */
  readonly recursive?: boolean;
  /** Rules for valid files. @default "default" */
  readonly profile?: ProfileName;
  /** Stops the check before the next file. */
  readonly signal?: AbortSignal;
  /** Called after each file. */
  readonly onFile?: (done: number, total: number) => void;
}

export interface DirectoryCheck {
  readonly success: true;
  readonly directory_path: string;
  readonly results_summary: {
    readonly total_files: number;
    readonly valid_count: number;
    readonly invalid_count: number;
  };
  readonly results_detail: readonly TypeCheckResult[];
  /** Files with a known extension that contain no GNN, and unreadable files, with the reason. */
  readonly skipped: readonly { readonly file_path: string; readonly reason: string }[];
  readonly report_generated_at: string;
}

/**
 * Checks every .md, .gnn or .csv file of a folder that contains GNN, sorted by name. Symbolic links are not followed.
 * Rejects if the folder cannot be read or has more than 10,000 such files.
 */
export async function typeCheckDirectory(
  path: string,
  { recursive = false, profile = "default", signal, onFile }: DirectoryCheckOptions = {},
): Promise<DirectoryCheck> {
  const files = await findGnnFiles(path, { recursive });
  const detail: TypeCheckResult[] = [];
  const skipped: { file_path: string; reason: string }[] = [];
  for (const [index, file] of files.entries()) {
    signal?.throwIfAborted();
    const result = await checkFile(file, profile);
    if ("reason" in result) skipped.push(result);
    else detail.push(result);
    onFile?.(index + 1, files.length);
  }
  const valid = detail.filter(({ is_valid }) => is_valid).length;
  return {
    success: true,
    directory_path: path,
    results_summary: { total_files: detail.length, valid_count: valid, invalid_count: detail.length - valid },
    results_detail: detail,
    skipped,
    report_generated_at: new Date().toISOString(),
  };
}

export interface FindOptions {
  /** True if subfolders are searched too. */
  readonly recursive: boolean;
  /** Folder that relative paths start from. @default the current folder */
  readonly base?: string;
}

/** Returns the paths of files that may contain GNN, sorted, each starting with the given path. */
export async function findGnnFiles(path: string, { recursive, base = "" }: FindOptions): Promise<string[]> {
  const found: string[] = [];
  const waiting: { readonly folder: string; readonly depth: number }[] = [{ folder: path, depth: 0 }];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    const folder = await opendir(resolve(base, at.folder)).catch(unlessGone(at.depth > 0));
    for await (const entry of folder ?? []) {
      const full = join(at.folder, entry.name);
      if (entry.isFile() && ENDINGS.has(extname(entry.name).toLowerCase())) found.push(full);
      else if (recursive && entry.isDirectory() && !entry.name.startsWith(".") && at.depth < DIRECTORY_LIMITS.depth)
        waiting.push({ folder: full, depth: at.depth + 1 });
      if (found.length > DIRECTORY_LIMITS.files)
        throw new Error(
          `${path} has more than ${DIRECTORY_LIMITS.files} files that may contain GNN. Name a smaller folder.`,
        );
    }
  }
  return found.toSorted();
}

/** Returns an error handler that ignores a folder that was removed during the search. */
function unlessGone(mayBeGone: boolean): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!mayBeGone || error.code !== "ENOENT") throw error;
    return undefined;
  };
}

async function checkFile(
  path: string,
  profile: ProfileName,
): Promise<TypeCheckResult | { readonly file_path: string; readonly reason: string }> {
  const text = await readGnnFile(path).catch((error: Error) => error);
  if (text instanceof Error) return { file_path: path, reason: text.message };
  const checked = checkGnn(text, { profile });
  const isNone = checked.diagnostics.some(({ code }) => code === "E013");
  return isNone && checked.file.models.length === 1
    ? { file_path: path, reason: "The file contains no GNN section." }
    : toTypeCheck(path, checked);
}

/** Reads a text file. Rejects with a message if it is not a regular file, too large or not UTF-8. */
export async function readGnnFile(path: string): Promise<string> {
  const stats = await stat(path);
  if (stats.size > MAX_BYTES)
    throw new Error(`${basename(path)} has ${stats.size} bytes; at most ${MAX_BYTES} are read. Split the file.`);
  if (stats.isDirectory()) throw Object.assign(new Error(`${basename(path)} is a folder.`), { code: "EISDIR" });
  if (!stats.isFile()) throw new Error(`${basename(path)} is not a regular file.`);
  const bytes = await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`${basename(path)} is not UTF-8. Save it as UTF-8.`, { cause: error });
  }
}

export interface WrittenReports {
  readonly markdown: string;
  readonly json: string;
}

/** Writes the report as Markdown, and as JSON next to it. Existing files are replaced atomically. */
export async function writeReports(check: DirectoryCheck, markdownPath: string): Promise<WrittenReports> {
  const extension = extname(markdownPath);
  const stem = extension === "" ? markdownPath : markdownPath.slice(0, -extension.length);
  const json = `${stem}${extension === ".json" ? ".data" : ""}.json`;
  await mkdir(dirname(markdownPath), { recursive: true });
  await replaceFile(markdownPath, reportOf(check));
  await replaceFile(json, `${JSON.stringify(check, undefined, 2)}\n`);
  return { markdown: markdownPath, json };
}

/** Returns the report as Markdown. */
export function reportOf(check: DirectoryCheck): string {
  const { directory_path: folder, results_summary: summary, results_detail: detail, skipped } = check;
  const rows = detail.map(
    (result) =>
      `| ${cell(relative(folder, result.file_path))} | ${result.is_valid ? "valid" : "invalid"} | ` +
      `${result.errors.length} | ${result.warnings.length} | ` +
      `${result.resource_estimates.memory_estimate_kb.toFixed(3)} | ` +
      `${result.resource_estimates.inference_estimate_units.toFixed(1)} |`,
  );
  const findings = detail
    .filter(({ errors, warnings }) => errors.length + warnings.length > 0)
    .flatMap(({ file_path, errors, warnings }) => [
      `## ${relative(folder, file_path)}`,
      "",
      ...[...errors, ...warnings].map((line) => `- ${line}`),
      "",
    ]);
  return [
    "# Type check of GNN files",
    "",
    `${summary.total_files} files in \`${folder}\`: ${summary.valid_count} valid, ${summary.invalid_count} ` +
      `invalid. ${check.report_generated_at}`,
    "",
    "| file | | errors | warnings | memory (KB) | inference (units) |",
    "| --- | --- | ---: | ---: | ---: | ---: |",
    ...rows,
    "",
    ...findings,
    ...(skipped.length === 0
      ? []
      : [
          "## Left out",
          "",
          ...skipped.map(({ file_path, reason }) => `- ${relative(folder, file_path)}: ${reason}`),
          "",
        ]),
  ].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`);
}
