import { join } from "node:path";
import { isJsonObject } from "../../core/json/json.ts";
import { readText } from "../../files/read-text.ts";
import { replaceFile } from "../edit/replace-file.ts";

/**
 * File with the environment of the user's terminal, as `connect` last stored it, for hubs that a desktop client starts.
 */
const FILE_NAME = "environment.json";

/** Reads the stored variables. Returns none if there is no readable file. */
export async function readStoredEnvironment(dataFolder: string): Promise<Readonly<Record<string, string>>> {
  try {
    const value: unknown = JSON.parse(await readText(join(dataFolder, FILE_NAME)));
    if (!isJsonObject(value)) return {};
    return Object.fromEntries(
      Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    );
  } catch {
    return {};
  }
}

/** Stores variables, which must contain no credentials. Only the owner can read a new file. */
export function storeEnvironment(dataFolder: string, variables: Readonly<Record<string, string>>): Promise<void> {
  return replaceFile(join(dataFolder, FILE_NAME), `${JSON.stringify(variables, null, 2)}\n`);
}
