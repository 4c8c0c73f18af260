import { isDeepStrictEqual } from "node:util";
import { ConfigError, messageOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { readText } from "../../files/read-text.ts";
import { parseJson } from "../document.ts";
import { TomlDocument } from "../edit/toml-document.ts";
import { withPath } from "../edit/tree-path.ts";
import type { ClientKind } from "./clients.ts";
import { removeFromJson, setInJson } from "./json-edit.ts";

/**
 * A client's file in which only the servers are changed: everything else, including comments and layout, stays
 * unchanged. The result of a change is parsed again before it is returned.
 */
export interface ClientDocument {
  readonly text: string;
  /** The whole file as read. */
  readonly tree: JsonObject;
  /** The client's servers by name, as written in its file. */
  readonly servers: JsonObject;
  set(name: string, entry: JsonObject): Promise<ClientDocument>;
  /** Removes servers. Unknown names are ignored. */
  remove(names: readonly string[]): Promise<ClientDocument>;
}

/** Reads the file of a client; a missing file counts as empty. Throws a `ConfigError` that names file and line. */
export async function readClientDocument(client: ClientKind, path: string): Promise<ClientDocument> {
  const text = await readText(path).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
    if (code === "ENOENT") return "";
    throw new ConfigError([`${path} cannot be read (${code}). Nothing was changed.`], { cause: error });
  });
  return parseClientDocument(client, path, text);
}

/** Parses the text of a client's file. `path` names the text in messages. */
export async function parseClientDocument(client: ClientKind, path: string, text: string): Promise<ClientDocument> {
  try {
    if (client.form === "toml") return tomlDocument(await TomlDocument.parse(path, text), client.table);
    return await jsonDocument({ path, table: client.table }, text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError([`${error.problems.join(" ")} Nothing was changed. Fix the file by hand first.`], {
      cause: error,
    });
  }
}

function tomlDocument(document: TomlDocument, table: string): ClientDocument {
  const servers = document.tree[table];
  const without = (names: readonly string[]): Promise<TomlDocument> =>
    document.removeAll(names.map((name) => [table, name]).filter((path) => document.has(path)));
  return {
    text: document.text,
    tree: document.tree,
    servers: isJsonObject(servers) ? servers : {},
    set: async (name, entry) =>
      tomlDocument(await (await without([name])).addAll([{ path: [table, name], table: entry }]), table),
    remove: async (names) => tomlDocument(await without(names), table),
  };
}

interface JsonPlace {
  readonly path: string;
  readonly table: string;
}

async function jsonDocument(place: JsonPlace, text: string): Promise<ClientDocument> {
  const { path, table } = place;
  // Some clients create an empty file when they start.
  const tree = text.trim() === "" ? {} : await parseJson(path, text);
  const servers = tree[table];
  if (servers !== undefined && !isJsonObject(servers))
    throw new ConfigError([`${path}: \`${table}\` must be an object of servers.`]);
  const checked = async (edited: string, wanted: JsonObject): Promise<ClientDocument> => {
    const changed = await jsonDocument(place, edited);
    if (!isDeepStrictEqual(await parseJson(path, changed.text), wanted))
      throw new ConfigError([
        `The form of ${path} does not allow automatic changes. Nothing was changed. Edit it by hand.`,
      ]);
    return changed;
  };
  return {
    text,
    tree,
    servers: servers ?? {},
    set: async (name, entry) =>
      checked(await setInJson(text, [table, name], entry), withPath(tree, [table, name], entry)),
    remove: async (names) => {
      const gone = new Set(names);
      const own = Object.entries(servers ?? {});
      const left = own.filter(([name]) => !gone.has(name));
      if (left.length === own.length) return jsonDocument(place, text);
      return checked(await removeFromJson(text, table, names), { ...tree, [table]: Object.fromEntries(left) });
    },
  };
}
