import { realpath } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { ConfigError, messageOf } from "../../core/errors.ts";
import type { OptionSchema } from "../../core/options/option-schema.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { checkConfig, formatPath } from "../check.ts";
import { onWritable, replaceFile } from "./replace-file.ts";
import { TomlDocument } from "./toml-document.ts";
import { readText } from "../../files/read-text.ts";

/** A change of a `toolyard.toml`. */
export type ConfigEdit = (document: TomlDocument) => Promise<TomlDocument>;

/** Reads a `toolyard.toml`; a missing file counts as empty. Throws a `ConfigError` if it cannot be edited as TOML. */
export async function readConfigFile(path: string): Promise<TomlDocument> {
  const text = await textOf(path);
  if (/\.json[c5]?$/i.test(extname(path)) || /^\s*\{/.test(text))
    throw new ConfigError([
      `${path} is JSON, the file of a client or editor. Import its servers with \`toolyard import ` +
        `${path}\`, and change toolyard.toml.`,
    ]);
  return TomlDocument.parse(path, text);
}

/**
 * Changes a `toolyard.toml` atomically, one process at a time. Refuses a change that violates the schema, and does not
 * overwrite a concurrent change by an editor. Throws a `ConfigError`; the file is then unchanged.
 */
export async function editConfigFile(path: string, schema: OptionSchema, edit: ConfigEdit): Promise<TomlDocument> {
  const real = await realpath(path).catch(() => path);
  return onWritable(path, () =>
    withFileLock(join(dirname(real), `.${basename(real)}.lock`), async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const before = await readConfigFile(path);
        const after = await edit(before);
        if (after.text === before.text) return after;
        refuseNewProblems(before, after, { path, schema });
        if ((await textOf(path)) !== before.text) continue;
        await replaceFile(path, after.text);
        return after;
      }
      throw new ConfigError([`${path} is being changed by another program. Nothing was written. Try again.`]);
    }),
  );
}

const MAX_ATTEMPTS = 5;

async function textOf(path: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
    if (code === "ENOENT") return "";
    throw new ConfigError([`${path} cannot be read (${code}). Name another file with --config.`], { cause: error });
  }
}

function refuseNewProblems(
  before: TomlDocument,
  after: TomlDocument,
  { path, schema }: { readonly path: string; readonly schema: OptionSchema },
): void {
  const problemsOf = ({ tree }: TomlDocument): readonly string[] =>
    checkConfig(tree, schema).map((problem) => `${formatPath(problem.path)}: ${problem.message} (${path})`);
  const known = new Set(problemsOf(before));
  const fresh = problemsOf(after).filter((problem) => !known.has(problem));
  if (fresh.length > 0) throw new ConfigError(fresh);
}
