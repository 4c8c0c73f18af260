import { join } from "node:path";
import { isJsonObject } from "../../core/json/json.ts";
import { readText } from "../../files/read-text.ts";
import { replaceFile } from "../edit/replace-file.ts";

/** The environment of the user's terminal as `connect` last saw it, for hubs that a desktop client starts. */
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

/** Stores variables that hold no login. A new file is for its owner alone. */
export function storeEnvironment(dataFolder: string, variables: Readonly<Record<string, string>>): Promise<void> {
  return replaceFile(join(dataFolder, FILE_NAME), `${JSON.stringify(variables, null, 2)}\n`);
}
