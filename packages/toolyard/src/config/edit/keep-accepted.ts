import { existsSync } from "node:fs";
import type { OptionSchema } from "../../core/options/option-schema.ts";
import { foreignFile, type ForeignFile } from "../accepted-files.ts";

/** Record of the files whose programs the user has accepted. */
export interface Acceptance {
  readonly schema: OptionSchema;
  has(foreign: ForeignFile): Promise<boolean>;
  accept(foreign: ForeignFile): Promise<void>;
}

/**
 * Writes a file that Toolyard creates or changes, and accepts its programs. If the user had not accepted the programs
 * of the previous text, accepts none.
 */
export async function keepAccepted<T>(file: string, acceptance: Acceptance, write: () => Promise<T>): Promise<T> {
  const { schema } = acceptance;
  const before = existsSync(file) ? await foreignFile(file, schema) : undefined;
  const isOurs = !before || (await acceptance.has(before));
  const written = await write();
  const after = isOurs ? await foreignFile(file, schema) : undefined;
  if (after) await acceptance.accept(after);
  return written;
}
