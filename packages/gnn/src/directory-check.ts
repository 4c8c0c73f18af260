import { mkdir, opendir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { replaceFile } from "toolyard/service/replace-file";
import { checkGnn } from "./checks/check.ts";
import { LIMITS } from "./language/limits.ts";
import type { ProfileName } from "./language/profiles.ts";
import { toTypeCheck, type TypeCheckResult } from "./type-check.ts";

/** Files and folders of one check. */
export const DIRECTORY_LIMITS = { files: 10_000, depth: 32 } as const;

const ENDINGS = new Set([".md", ".gnn", ".csv"]);
/** A character of UTF-8 has at most so many bytes for each unit of UTF-16. */
const MAX_BYTES = LIMITS.characters * 3;

export interface DirectoryCheckOptions {
  /** Folders in the folder, too. @default false */
  readonly recursive?: boolean;
  /** @default "default" */
  readonly profile?: ProfileName;
  /** Ends the check between two files. */
  readonly signal?: AbortSignal;
  /** Called behind each file. */
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
  /** Files with such an ending that hold no GNN, and files that cannot be read, with the reason. */
  readonly skipped: readonly { readonly file_path: string; readonly reason: string }[];
  readonly report_generated_at: string;
}

/**
 * Checks every file of a folder that ends in .md, .gnn or .csv and holds GNN, in the order of their names. Links are
 * not followed. Rejects where the folder cannot be read or has more than 10,000 such files.
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
  /** Folders in the folder, too. */
  readonly recursive: boolean;
  /** Folder that relative paths start from. @default the current folder */
  readonly base?: string;
}

/** Paths of files that may hold GNN, sorted, each with the given path in front. */
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
          `${path} has more than ${DIRECTORY_LIMITS.files} files that may hold GNN. Name a smaller folder.`,
        );
    }
  }
  return found.toSorted();
}

/** Nothing for a folder that went away while others were looked at. */
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
    ? { file_path: path, reason: "The file holds no section of GNN." }
    : toTypeCheck(path, checked);
}

/** The text of a file. Rejects with a sentence where it is none, too large or not UTF-8. */
export async function readGnnFile(path: string): Promise<string> {
  const stats = await stat(path);
  if (stats.size > MAX_BYTES)
    throw new Error(`${basename(path)} has ${stats.size} bytes; at most ${MAX_BYTES} are read. Split the file.`);
  if (stats.isDirectory()) throw Object.assign(new Error(`${basename(path)} is a folder.`), { code: "EISDIR" });
  if (!stats.isFile()) throw new Error(`${basename(path)} is no ordinary file.`);
  const bytes = await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error(`${basename(path)} is not written in UTF-8. Save it as UTF-8.`, { cause: error });
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

/** The report as Markdown. */
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
