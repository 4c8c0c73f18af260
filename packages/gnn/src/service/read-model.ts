import { ToolFailure } from "./failure.ts";
import { checkGnn, type CheckedFile } from "../checks/check.ts";
import { readGnnFile } from "../directory-check.ts";
import type { ProfileName } from "../language/profiles.ts";
import type { ParseResult } from "../language/parse.ts";
import type { ModelFiles } from "./model-files.ts";

/** The text of a file of GNN. Rejects with a `ToolFailure`: where nothing is there, in the words that clients know. */
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

/** Name of a text in results that name a file. */
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

/** Checks a text, or the file that is named in its place. */
export async function checkSource(files: ModelFiles, source: ModelSource): Promise<CheckedFile> {
  const { text } = await sourceText(files, source);
  const { profile } = source;
  return checkGnn(text, profile === undefined ? {} : { profile });
}

/** As `checkSource`, for those who need models: a text of which nothing was read is refused with the reason. */
export async function readSource(files: ModelFiles, source: ModelSource): Promise<CheckedFile> {
  const checked = await checkSource(files, source);
  expectModels(checked);
  return checked;
}

/** Only a text above the bound has no model at all. */
export function expectModels({ file, diagnostics: [first] }: ParseResult): void {
  if (file.models.length === 0)
    throw new ToolFailure(`${first?.message ?? "There is no model."} ${first?.mend ?? ""}`.trimEnd(), "invalid_params");
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
