import { ToolFailure } from "./failure.ts";
import { checkGnn, type CheckedFile } from "../checks/check.ts";
import { readGnnFile } from "../directory-check.ts";
import type { ProfileName } from "../language/profiles.ts";
import type { ParseResult } from "../language/parse.ts";
import type { ModelFiles } from "./model-files.ts";

/**
 * Returns the text of a GNN file. Rejects with a `ToolFailure`; if the file does not exist, with the message that
 * clients recognise.
 */
export async function readModelText(files: ModelFiles, path: string): Promise<string> {
  try {
    return await readGnnFile(await files.existing(path));
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    if (codeOf(error) === "ENOENT") throw new ToolFailure(`Input GNN file not found: ${path}`, "invalid_params");
    if (codeOf(error) === "EISDIR") throw new ToolFailure(`${path} is a folder. Name a file in it.`, "invalid_params");
    throw new ToolFailure(`${path} cannot be read: ${(error as Error).message}`);
  }
}

export interface ModelSource {
  readonly text?: string;
  readonly file_path?: string;
  readonly profile?: ProfileName;
}

/** Name of a text that does not come from a file. */
const TEXT_NAME = "(text)";

/** A text with the name of its file. */
export interface NamedSource {
  readonly name: string;
  readonly text: string;
}

/** Returns the text, or that of the named file. Rejects with a `ToolFailure` if both or none are given. */
export async function sourceText(files: ModelFiles, { text, file_path: path }: ModelSource): Promise<NamedSource> {
  if ((text === undefined) === (path === undefined))
    throw new ToolFailure("Give either `text` or `file_path`.", "invalid_params");
  return { name: path ?? TEXT_NAME, text: text ?? (await readModelText(files, path!)) };
}

/** Checks a text or the named file. */
export async function checkSource(files: ModelFiles, source: ModelSource): Promise<CheckedFile> {
  const { text } = await sourceText(files, source);
  const { profile } = source;
  return checkGnn(text, profile === undefined ? {} : { profile });
}

/** Like `checkSource`, but rejects a text from which no model was read. */
export async function readSource(files: ModelFiles, source: ModelSource): Promise<CheckedFile> {
  const checked = await checkSource(files, source);
  expectModels(checked);
  return checked;
}

/** Throws if the text has no model, which happens only above the size limit. */
export function expectModels({ file, diagnostics: [first] }: ParseResult): void {
  if (file.models.length === 0)
    throw new ToolFailure(`${first?.message ?? "There is no model."} ${first?.mend ?? ""}`.trimEnd(), "invalid_params");
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
