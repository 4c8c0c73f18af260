import { statSync } from "node:fs";
import { FailError } from "../../core/errors.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";

/** A tool and its files on disk. */
export interface ToolFiles {
  readonly name: string;
  readonly folder: string;
  /** File that is run. Absent if the tool's program is outside its folder. */
  readonly file?: string | undefined;
}

/** Error codes that a missing file can explain. Others, such as `timeout`, have another cause. */
const EXPLAINED: readonly FailKind[] = ["unavailable", "internal", "malformed"];
/** Text with which interpreters, shells and system calls report a missing file. */
const MISSING_FILE =
  /no such file|cannot find (?:module|the)|can't open file|not found|no module named|ENOENT|ENOTDIR|getcwd|uv_cwd/i;

/**
 * Returns the failure that replaces `error` if the tool's folder or file was removed during the start of its call;
 * undefined if both exist, or if something else failed.
 */
export function removedTool(tool: ToolFiles, error: unknown): Fail | undefined {
  if (!isExplained(error)) return undefined;
  const cause = error instanceof Error ? error : new Error(errorText(error), { cause: error });
  if (!isFolder(tool.folder))
    return gone(`The folder of tool \`${tool.name}\` was removed. Restore it, or list the tools again.`, cause);
  if (tool.file === undefined || isThere(tool.file)) return undefined;
  return goneScript(tool.name, cause);
}

/** Returns the failure of a call whose script does not exist. */
export function goneScript(name: string, cause: unknown): Fail {
  return gone(`The script of tool \`${name}\` was removed. Restore it, or remove the tool's folder.`, cause);
}

function gone(message: string, cause: unknown): Fail {
  return fail("unavailable", message, { retryable: false, cause });
}

function isExplained(error: unknown): boolean {
  const failure = error instanceof FailError ? error.failure : isFail(error) ? error : undefined;
  if (!failure) return typeof (error as NodeJS.ErrnoException | undefined)?.code === "string";
  if (EXPLAINED.includes(failure.kind)) return true;
  // If the tool ran and failed, its own message is kept, unless its interpreter could not open the file.
  return failure.kind === "tool_error" && MISSING_FILE.test(failure.message);
}

function isFail(error: unknown): error is Fail {
  return typeof error === "object" && error !== null && "kind" in error && "message" in error;
}

function errorText(error: unknown): string {
  return isFail(error) ? error.message : String(error);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
