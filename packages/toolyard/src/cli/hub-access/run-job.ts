import { readFile, stat } from "node:fs/promises";
import { basename, extname, isAbsolute, normalize, resolve, sep } from "node:path";
import { formatBytes } from "../../core/text/bytes.ts";
import { checkJob } from "../../sandbox/check-job.ts";
import type { SandboxFile, SandboxJob, SandboxLanguage } from "../../sandbox/engine.ts";
import type { SandboxOptions } from "../../sandbox/options.ts";
import { readArguments } from "../input/arguments.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";
import { readTimeout } from "./one-call.ts";

export interface RunOptions extends SharedOptions {
  readonly language?: SandboxLanguage;
  readonly input?: readonly string[];
  readonly file?: readonly string[];
  readonly out?: string;
  readonly timeout?: string;
}

const LANGUAGES: Readonly<Record<string, SandboxLanguage>> = {
  ".py": "python",
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
};

/** Returns the job that the command line describes. Throws a `UsageError` if it cannot be run. */
export async function readJob(
  { file, limits }: { readonly file: string; readonly limits: SandboxOptions["limits"] },
  options: RunOptions,
  io: Io,
): Promise<SandboxJob> {
  const language = options.language ?? languageOf(file);
  const { input = [] } = options;
  if (file === "-" && input.includes("-"))
    throw new UsageError("Standard input can be the code or the inputs, not both.");
  const job: SandboxJob = {
    language,
    code:
      file === "-"
        ? await io.readStdin()
        : (await readGiven(resolve(io.cwd, file), file, MAX_CODE_BYTES)).toString("utf8"),
    inputs: await readArguments(input, io),
    files: await readFiles(options.file ?? [], limits.fileBytes, io),
    profile: "scripting",
    limits,
  };
  const problem = checkJob(job);
  if (problem !== undefined) throw new UsageError(problem);
  return job;
}

/**
 * Returns the options with the user's timeout. It may be longer than a caller's timeout, and it also limits
 * computation.
 */
export function withTimeout(options: SandboxOptions, timeout: string | undefined): SandboxOptions {
  if (timeout === undefined) return options;
  const wallMs = readTimeout(timeout);
  if (wallMs < 1 || wallMs > MAX_TIMEOUT_MS)
    throw new UsageError(`--timeout must be from 1ms to 24h, got "${timeout}".`);
  const limits = { ...options.limits, wallMs, cpuMs: Math.max(options.limits.cpuMs, wallMs) };
  return { ...options, limits, maxWallMs: Math.max(options.maxWallMs, wallMs) };
}

const MAX_TIMEOUT_MS = 24 * 3_600_000;
/** Maximum size of the code. The sandbox has a lower limit, which is reported with its own error. */
const MAX_CODE_BYTES = 16 * 1024 ** 2;

function languageOf(file: string): SandboxLanguage {
  if (file === "-")
    throw new UsageError(
      "Code on standard input has no name that shows its language. Add --language python, javascript or typescript.",
    );
  const known = LANGUAGES[extname(file).toLowerCase()];
  if (known) return known;
  throw new UsageError(
    `The language of ${file} is not known by its name (${Object.keys(LANGUAGES).join(", ")}). ` +
      "Say --language python, javascript or typescript.",
  );
}

async function readFiles(given: readonly string[], maxBytes: number, io: Io): Promise<readonly SandboxFile[]> {
  const files: SandboxFile[] = [];
  let left = maxBytes;
  for (const word of given) {
    const { path, from } = await placeOf(word, io);
    const bytes = await readGiven(from, word, left);
    left -= bytes.byteLength;
    files.push({ path, bytes });
  }
  return files;
}

/**
 * Returns the path of a file in the run. `data/in.csv` keeps its path; a file outside the current folder (`../in.csv`)
 * gets its name in the working folder; `name=path` sets the name.
 */
async function placeOf(word: string, io: Io): Promise<{ readonly path: string; readonly from: string }> {
  const whole = resolve(io.cwd, word);
  const equals = word.indexOf("=");
  if (equals > 0 && !(await isThere(whole)))
    return { path: word.slice(0, equals), from: resolve(io.cwd, word.slice(equals + 1)) };
  const near = normalize(word);
  const isInside = !isAbsolute(near) && near.split(sep)[0] !== "..";
  return { path: isInside ? near.replaceAll(sep, "/") : basename(whole), from: whole };
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function readGiven(path: string, word: string, maxBytes: number): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes)
      throw new UsageError(
        `${word} has ${formatBytes(size)}; ${formatBytes(maxBytes)} are left for it ([sandbox] file_bytes).`,
      );
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (typeof code !== "string") throw error;
    throw new UsageError(`${word} cannot be read (${code}).`, { cause: error });
  }
}
