import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import type * as sucraseModule from "sucrase";
import { isJsonObject } from "../../core/json/json.ts";
import { searchEnvironment } from "../../process/environment.ts";
import { suffixCommandLine } from "../scripts/command-line.ts";
import { sucrasePath } from "../typescript/sucrase-path.ts";
import { syntaxErrorOf } from "../typescript/syntax-place.ts";

/**
 * Time limit of one check in milliseconds. A check takes about ten milliseconds; if it is slower, the call reports the
 * fault.
 */
const CHECK_MS = 10_000;
const MAX_REPORT_BYTES = 1_000_000;

/** Returns why files are not tools, by path: a syntax error, or no function `execute`. Runs no code of the files. */
export async function findFaults(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const python = files.filter((file) => extname(file).toLowerCase() === ".py");
  const scripts = files.filter((file) => !python.includes(file));
  const found = await Promise.all([
    python.length === 0 ? [] : pythonFaults(python),
    ...scripts.map(async (file) => {
      const fault = await scriptFault(file);
      return fault === undefined ? [] : [[file, fault] as const];
    }),
  ]);
  return new Map(found.flat());
}

async function pythonFaults(files: readonly string[]): Promise<readonly (readonly [string, string])[]> {
  const env = searchEnvironment();
  const line = await suffixCommandLine(".py", { env }).catch(() => undefined);
  if (!line) return [];
  const finder = fileURLToPath(new URL("find-faults.py", import.meta.url));
  const text = await new Promise<string>((resolve) => {
    const child = execFile(
      line.command,
      [...line.args, "-I", "-S", "-W", "ignore", finder],
      { env, timeout: CHECK_MS, maxBuffer: MAX_REPORT_BYTES, windowsHide: true },
      (error, stdout) => resolve(error ? "{}" : stdout),
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(files));
  });
  return Object.entries(toReport(text));
}

function toReport(text: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? (value as Record<string, string>) : {};
  } catch {
    return {};
  }
}

/** Matches code that may export `execute`, under any local name. */
const MAY_EXPORT = /\bexecute\b|\bexport\s+default\b|\bdefault\s*[,}]|\bexport\s*\*|\bexports\b/;

async function scriptFault(file: string): Promise<string | undefined> {
  let source: string;
  try {
    source = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  if (!MAY_EXPORT.test(source)) return "it exports no function `execute(params)`";
  return (await compiles(source, file)) ? undefined : syntaxErrorOf(file);
}

/**
 * Returns whether the engine compiles the text as a script. Other files are checked as modules, in a child process.
 */
async function compiles(source: string, file: string): Promise<boolean> {
  const { transform } = createRequire(import.meta.url)(sucrasePath()) as typeof sucraseModule;
  try {
    const transforms = extname(file) === ".ts" ? ["imports" as const, "typescript" as const] : ["imports" as const];
    const { code } = transform(source.replace(/^#!.*/, ""), { transforms, disableESTransforms: true });
    const body = code.replaceAll(/\bimport\s*\.\s*meta\b/g, "({})");
    return (
      new Script(`(async (exports, require, module, __filename, __dirname) => {${body}\n})`, {
        filename: "tool",
      }) instanceof Script
    );
  } catch {
    return false;
  }
}
