import { stringifyExact } from "../core/json/exact-json.ts";
import { tooLargeFiles, tooManyFiles } from "./bound-messages.ts";
import type { SandboxJob, SandboxLimits } from "./engine.ts";
import { toFilePath } from "./file-path.ts";
import type { SandboxOptions } from "./options.ts";
import { firstChars } from "../core/text/truncate.ts";

/** Maximum size of code. Larger text is data, which belongs in `inputs` or `files`. */
const MAX_CODE_BYTES = 1024 * 1024;
const MAX_SESSION_CHARS = 1000;

/** Reduces the limits of a job to the configured ones. Only its time may be higher, up to `maxWallMs`. */
export function withinBounds(job: SandboxJob, { limits, maxWallMs }: SandboxOptions): SandboxJob {
  const least = (name: keyof SandboxLimits): number => Math.min(job.limits[name], limits[name]);
  const bounded: SandboxLimits = {
    wallMs: Math.min(job.limits.wallMs, maxWallMs),
    cpuMs: least("cpuMs"),
    memoryBytes: least("memoryBytes"),
    outputBytes: least("outputBytes"),
    resultBytes: least("resultBytes"),
    toolCalls: least("toolCalls"),
    concurrentToolCalls: least("concurrentToolCalls"),
    toolBytes: least("toolBytes"),
    fileBytes: least("fileBytes"),
    files: least("files"),
  };
  return { ...job, limits: bounded };
}

/** Returns why a job cannot be run; undefined if it can. */
export function checkJob({ code, inputs, files, limits, session, profile }: SandboxJob): string | undefined {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES)
    return (
      `The code has ${Buffer.byteLength(code)} bytes; at most ${MAX_CODE_BYTES} are run. ` +
      (profile === "restricted" ? "Do the work in several runs." : "Give data as inputs or files.")
    );
  const inputBytes = Buffer.byteLength(stringifyExact(inputs));
  if (inputBytes > limits.toolBytes)
    return (
      `The inputs have ${inputBytes} bytes as JSON; at most ${limits.toolBytes} are taken (\`sandbox.tool_bytes\`). ` +
      "Give large data as files."
    );
  if (session !== undefined && (session === "" || session.length > MAX_SESSION_CHARS))
    return `The name of a session has 1 to ${MAX_SESSION_CHARS} characters.`;
  if (files.length > limits.files) return tooManyFiles(limits.files, files.length);
  const fileBytes = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  if (fileBytes > limits.fileBytes) return tooLargeFiles(limits.fileBytes, fileBytes);
  return checkPaths(files.map(({ path }) => path));
}

function checkPaths(paths: readonly string[]): string | undefined {
  const wrong = paths.find((path) => toFilePath(path) !== path);
  if (wrong !== undefined)
    return (
      `"${firstChars(wrong, 100)}" is not a valid path: it must be relative, with "/" between its steps, ` +
      'and without "." or ".." as a step.'
    );
  return new Set(paths).size === paths.length ? undefined : "Two files have the same path.";
}
