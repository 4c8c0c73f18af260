import { editConfigFile } from "../../config/edit/config-file.ts";
import { serversOf } from "../../config/edit/sources.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { noSuchServer, openFiles, serverNamed } from "../input/config-target.ts";
import { consent, writeAccepted } from "../input/consent.ts";
import { EXIT } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

export const enable: CommandAction = ([name = ""], options, io) => toggle({ name, enabled: true }, options, io);
export const disable: CommandAction = ([name = ""], options, io) => toggle({ name, enabled: false }, options, io);

async function toggle(
  { name, enabled }: { readonly name: string; readonly enabled: boolean },
  options: SharedOptions,
  io: Io,
): Promise<number> {
  await consent(options, io);
  const files = await openFiles(options, io);
  const found = serverNamed(files, name);
  if (!found) throw noSuchServer(files, name);
  const { path } = found.file;
  const before = found.server.options["enabled"] !== false;
  await writeAccepted(path, io, () =>
    editConfigFile(path, CONFIG_SCHEMA, async (document) => {
      const server = serversOf(document.tree, CONFIG_SCHEMA).find((one) => one.name === name);
      if (!server || (server.options["enabled"] !== false) === enabled) return document;
      const isTold = files.some((file) => file !== found.file && serverNamed([file], name));
      // Removes the `enabled` option that `disable` wrote.
      // If another file sets the option too, it is set to true instead.
      const bare = enabled && !isTold ? await document.unset(server.path, "enabled") : undefined;
      return bare ?? document.set(server.path, "enabled", enabled);
    }),
  );
  const changed = before !== enabled;
  if (options.json) await printJson(io.stdout, { name, file: path, enabled, changed });
  else await print(io.stdout, sentence(name, path, { enabled, changed }));
  return EXIT.ok;
}

function sentence(
  name: string,
  path: string,
  { enabled, changed }: { readonly enabled: boolean; readonly changed: boolean },
): string {
  const state = enabled ? "enabled" : "disabled";
  if (!changed) return `${name} is ${state} already in ${path}.`;
  return `${name} is ${state} now in ${path}. A hub that runs ${enabled ? "starts" : "ends"} it.`;
}
