import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { codeOf } from "../core/errors.ts";
import { expandHome } from "../core/home-path.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { VariablesFileMember } from "../core/options/option-schema.ts";
import { readText } from "../files/read-text.ts";
import { expandTree, MissingValue, type ExpandContext } from "./expand.ts";

const MAX_FILE_CHARS = 1024 * 1024;

/**
 * Reads the file of `NAME=value` lines that an entry names, and adds its variables to the entry. A variable in the
 * entry itself takes precedence. The values are literal: a `${` in the file is not a reference. Rejects with a
 * `MissingValue` if the file cannot be read.
 */
export async function withVariablesFile(
  entry: JsonObject,
  { file: key, into }: VariablesFileMember,
  context: ExpandContext,
): Promise<JsonObject> {
  const { [key]: file, ...rest } = entry;
  if (typeof file !== "string") return entry;
  const path = resolve(context.folder, expandHome(String(await expandTree(file, context))));
  const found = Object.entries(parseEnv(await readVariables(path, key)));
  const literal = found.map(([name, value]) => [name, String(value).replaceAll("${", "$$${")]);
  const own = rest[into];
  return { ...rest, [into]: { ...Object.fromEntries(literal), ...(isJsonObject(own) ? own : {}) } };
}

async function readVariables(path: string, key: string): Promise<string> {
  const text = await readText(path, { maxBytes: MAX_FILE_CHARS }).catch((error: unknown) => {
    const code = codeOf(error) ?? "unknown error";
    throw new MissingValue(`\`${key}\`: the file ${path} cannot be read (${code}). Check its path and permissions.`);
  });
  if (text.length > MAX_FILE_CHARS)
    throw new MissingValue(
      `\`${key}\`: the file ${path} has more than ${MAX_FILE_CHARS} characters. Name another file.`,
    );
  // A byte order mark would become part of the first variable's name.
  return text.replace(/^\uFEFF/, "");
}
