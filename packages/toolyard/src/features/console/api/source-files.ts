import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { readConfigFile } from "../../../config/edit/config-file.ts";
import { serversOf } from "../../../config/edit/sources.ts";
import type { TomlDocument } from "../../../config/edit/toml-document.ts";
import { messageOf } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { HubControl } from "../../../core/ports/hub-control.ts";

/** The entry of a source in a configuration file. */
export interface SourcePlaceInFile {
  readonly file: string;
  readonly isEditable: boolean;
  /** Reason why the console cannot edit the entry. */
  readonly reason?: string;
  readonly options: JsonObject;
  /** Path of the entry in the file. */
  readonly path: readonly string[];
  readonly document: TomlDocument;
}

/** Configuration file that the console can edit, or the reason why it cannot. */
export interface OpenedFile {
  readonly path: string;
  readonly document?: TomlDocument;
  readonly reason?: string;
}

/** Opens the files in force, those with the highest precedence first. */
export function openFiles({ files }: Pick<HubControl, "files">): Promise<readonly OpenedFile[]> {
  return Promise.all(files.toReversed().map(openFile));
}

async function openFile(path: string): Promise<OpenedFile> {
  try {
    const document = await readConfigFile(path);
    const isWritable = await access(path, constants.W_OK).then(
      () => true,
      () => false,
    );
    return { path, document, ...(!isWritable && { reason: `${path} is not writable for the hub.` }) };
  } catch (error) {
    return { path, reason: messageOf(error) };
  }
}

/** Returns the entry of each source that a file configures, by id. The first file with an entry has precedence. */
export async function placesOf(
  control: Pick<HubControl, "files" | "schema">,
): Promise<ReadonlyMap<string, SourcePlaceInFile>> {
  const places = new Map<string, SourcePlaceInFile>();
  const { schema } = control;
  for (const { path: file, document, reason } of await openFiles(control)) {
    if (!document) continue;
    for (const { name, options, path } of serversOf(document.tree, schema)) {
      if (places.has(name)) continue;
      const isEditable = reason === undefined;
      places.set(name, { file, isEditable, ...(reason !== undefined && { reason }), options, path, document });
    }
  }
  return places;
}
