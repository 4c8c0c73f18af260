import { existsSync } from "node:fs";
import { readDocument } from "../../config/document.ts";
import { editConfigFile } from "../../config/edit/config-file.ts";
import { replaceFile } from "../../config/edit/replace-file.ts";
import { addServers, serversOf } from "../../config/edit/sources.ts";
import type { ImportedServer } from "../../config/import/import-servers.ts";
import { locateConfig, userConfigFile } from "../../config/locate.ts";
import { configTemplate } from "../../config/template.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "../../hub/schema.ts";
import { assertAccepted } from "../input/consent.ts";
import type { Io } from "../output/io.ts";
import type { ConnectOptions, Target } from "./options.ts";

/** Finds the configuration. If there is none, creates the user's configuration, except in a dry run. */
export async function targetFile(options: ConnectOptions, io: Io): Promise<Target> {
  // After `connect`, clients start programs that the file names without asking the user, so the user must accept it
  // now.
  if (!options.dryRun) await assertAccepted(options, io);
  const found = locateConfig(options.config ?? [], io.env, io.cwd);
  const path = found.at(-1) ?? userConfigFile(io.env);
  if (found.length === 0 && !options.dryRun) await replaceFile(path, configTemplate(CONFIG_SCHEMA));
  const isJson = /\.json[c5]?$/i.test(path);
  return {
    path,
    files: found.length === 0 ? [path] : found,
    ...(isJson ? { closed: `${path} is JSON, to which nothing is added` } : {}),
  };
}

export function configOf({ files }: Target, io: Io): Promise<LoadedHubConfig> {
  return loadHubConfig({ files: files.filter((file) => existsSync(file)), variables: io.env });
}

/** Returns the servers in the configuration's files as written, by name. */
export async function writtenServers({ files }: Target): Promise<ReadonlyMap<string, JsonObject>> {
  const documents = await Promise.all(files.filter((file) => existsSync(file)).map((file) => readDocument(file)));
  const servers = documents.flatMap(({ tree }) => serversOf(tree, CONFIG_SCHEMA));
  return new Map(servers.map(({ name, options }) => [name, options]));
}

/** Adds servers of clients to the configuration's file. */
export async function addToTarget(target: Target, servers: readonly ImportedServer[]): Promise<void> {
  if (servers.length === 0) return;
  const added = servers.map(({ alias: name, kind, options, program }) => {
    return { kind, name, options, comment: `from ${program}` };
  });
  await editConfigFile(target.path, CONFIG_SCHEMA, (document) => addServers(document, added, CONFIG_SCHEMA));
}
