import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { ConfigError, messageOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { parseJson } from "../document.ts";
import { TomlDocument } from "../edit/toml-document.ts";
import { withoutPath, withPath } from "../edit/tree-path.ts";
import type { ClientKind } from "./clients.ts";
import { editJson } from "./json-edit.ts";

/**
 * A client's file, of which only servers are changed: everything else in it, comments and layout included, stays as it
 * is. What a change makes of it is read again before it is given out.
 */
export interface ClientDocument {
  readonly text: string;
  /** The client's servers, by name, as they stand in its file. */
  readonly servers: JsonObject;
  set(name: string, entry: JsonObject): Promise<ClientDocument>;
  remove(name: string): Promise<ClientDocument>;
}

/** Reads the file of a client; an absent one is empty. Throws a `ConfigError` that names file and line. */
export async function readClientDocument(client: ClientKind, path: string): Promise<ClientDocument> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
    if (code === "ENOENT") return "";
    throw new ConfigError([`${path} cannot be read (${code}). Nothing was changed.`], { cause: error });
  });
  return parseClientDocument(client, path, text);
}

/** `path` stands for the text in messages. */
export async function parseClientDocument(client: ClientKind, path: string, text: string): Promise<ClientDocument> {
  try {
    if (client.form === "toml") return tomlDocument(await TomlDocument.parse(path, text), client.table);
    return await jsonDocument({ path, table: client.table }, text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError([`${error.problems.join(" ")} Nothing was changed. Mend the file by hand first.`], {
      cause: error,
    });
  }
}

function tomlDocument(document: TomlDocument, table: string): ClientDocument {
  const servers = document.tree[table];
  const without = async (name: string): Promise<TomlDocument> =>
    document.has([table, name]) ? document.remove([table, name]) : document;
  return {
    text: document.text,
    servers: isJsonObject(servers) ? servers : {},
    set: async (name, entry) => tomlDocument(await (await without(name)).addTable([table, name], entry), table),
    remove: async (name) => tomlDocument(await without(name), table),
  };
}

interface JsonPlace {
  readonly path: string;
  readonly table: string;
}

async function jsonDocument(place: JsonPlace, text: string): Promise<ClientDocument> {
  const { path, table } = place;
  // Some clients make an empty file when they start.
  const tree = text.trim() === "" ? {} : await parseJson(path, text);
  const servers = tree[table];
  if (servers !== undefined && !isJsonObject(servers))
    throw new ConfigError([`${path}: \`${table}\` must be an object of servers.`]);
  const change = async (name: string, entry: JsonObject | undefined): Promise<ClientDocument> => {
    const changed = await jsonDocument(place, await editJson(text, [table, name], entry));
    const wanted = entry ? withPath(tree, [table, name], entry) : withoutPath(tree, [table, name]);
    if (!isDeepStrictEqual(await parseJson(path, changed.text), wanted))
      throw new ConfigError([`${path} cannot be changed as it is written. Nothing was changed. Edit it by hand.`]);
    return changed;
  };
  return {
    text,
    servers: servers ?? {},
    set: (name, entry) => change(name, entry),
    remove: async (name) =>
      servers && Object.hasOwn(servers, name) ? change(name, undefined) : jsonDocument(place, text),
  };
}
