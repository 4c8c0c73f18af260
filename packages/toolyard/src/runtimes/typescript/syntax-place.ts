import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { transformTypeScript, TypeScriptError } from "./transform.ts";

/** Maximum number of files that are checked for the error. */
const MAX_FILES = 50;
const CHECK_MS = 5000;

/**
 * Returns the place of the syntax error in a file that Node cannot compile, as `[text, file name, line]`. The engine's
 * error does not contain the place, so `node --check` runs on each file. Used only for messages; takes about 50 ms per
 * file.
 */
export async function findSyntaxError(
  files: readonly string[],
): Promise<readonly [string, string, string] | undefined> {
  for (const file of files.filter((path) => /\.m?[jt]s$/u.test(path)).slice(0, MAX_FILES)) {
    const line = await brokenLine(file);
    if (line !== undefined) return [`${basename(file)}:${line}`, basename(file), line];
  }
  return undefined;
}

/** Returns the engine's error for a file, with the line; `undefined` if it compiles, as a module or as CommonJS. */
export async function syntaxErrorOf(file: string): Promise<string | undefined> {
  let code: string;
  try {
    const source = readFileSync(file, "utf8");
    code = file.endsWith("ts") ? transformTypeScript(source, file) : source;
  } catch (error) {
    return error instanceof TypeScriptError ? error.message : undefined;
  }
  const report = await check(code, "module");
  if (report === "" || (file.endsWith(".js") && (await check(code, "commonjs")) === "")) return undefined;
  const line = /^\[stdin\]:(\d+)$/mu.exec(report)?.[1];
  const words = /^SyntaxError: .*$/mu.exec(report)?.[0];
  return words === undefined ? undefined : `${line === undefined ? "" : `line ${line}: `}${words}`;
}

async function brokenLine(file: string): Promise<string | undefined> {
  try {
    const source = readFileSync(file, "utf8");
    const code = file.endsWith("ts") ? transformTypeScript(source, file) : source;
    return /^\[stdin\]:(\d+)$/mu.exec(await check(code, "module"))?.[1];
  } catch {
    // Returns undefined if the file is missing, or if the transformer rejected it: then its message already contains
    // the line.
    return undefined;
  }
}

function check(code: string, type: "module" | "commonjs"): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--check", `--input-type=${type}`, "-"],
      { timeout: CHECK_MS },
      (_error, _stdout, stderr) => resolve(stderr),
    );
    // The error is ignored: a child that stopped reading has already reported the error in the file.
    child.stdin?.on("error", () => {});
    child.stdin?.end(code);
  });
}
