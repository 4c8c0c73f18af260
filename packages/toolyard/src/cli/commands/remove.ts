import { dirname, resolve } from "node:path";
import { editConfigFile } from "../../config/edit/config-file.ts";
import { hasPath, pathListsOf, removePath, serversOf, type PathList } from "../../config/edit/sources.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { noSuchServer, openFiles, serverNamed, type OpenConfigFile } from "../input/config-target.ts";
import { consent, writeAccepted } from "../input/consent.ts";
import { EXIT } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction } from "../rows/command-row.ts";

export const run: CommandAction = async ([name = ""], options, io) => {
  await consent(options, io);
  const files = await openFiles(options, io);
  const file = (await removeServer(files, name, io)) ?? (await removeTools(files, name, io));
  if (file === undefined) throw noSuchServer(files, name);
  if (options.json) await printJson(io.stdout, { name, file });
  else await print(io.stdout, `Removed ${name} from ${file}. A hub that runs ends it.`);
  return EXIT.ok;
};

async function removeServer(files: readonly OpenConfigFile[], name: string, io: Io): Promise<string | undefined> {
  const found = serverNamed(files, name);
  if (!found) return undefined;
  await writeAccepted(found.file.path, io, () =>
    editConfigFile(found.file.path, CONFIG_SCHEMA, async (document) => {
      // The position is determined again, because the file may have changed.
      const server = serversOf(document.tree, CONFIG_SCHEMA).find((one) => one.name === name);
      return server ? document.remove(server.path) : document;
    }),
  );
  return found.file.path;
}

/**
 * Removes a path from the list of tools. The path matches as written in the configuration, or relative to the current
 * folder.
 */
async function removeTools(files: readonly OpenConfigFile[], name: string, io: Io): Promise<string | undefined> {
  for (const { path, document } of files) {
    const folder = dirname(path);
    const spellings = [name, resolve(io.cwd, name)];
    const has = (tree: JsonObject, list: PathList) =>
      spellings.some((one) => hasPath(tree, list, { folder, path: one }));
    const list = pathListsOf(document.tree, CONFIG_SCHEMA).find((one) => has(document.tree, one));
    if (!list) continue;
    const isMeant = (one: string): boolean =>
      spellings.some((spelling) => resolve(folder, spelling) === resolve(folder, one));
    await writeAccepted(path, io, () =>
      editConfigFile(path, CONFIG_SCHEMA, (current) => removePath(current, list, isMeant)),
    );
    return path;
  }
  return undefined;
}
