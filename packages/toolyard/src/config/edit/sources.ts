import { resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { OptionSchema } from "../../core/options/option-schema.ts";
import type { ProviderKind } from "../../core/sources/provider-kinds.ts";
import type { ToolPlaces } from "../../core/sources/table-facts.ts";
import { entriesOf, tablesOf } from "../source-tables.ts";
import type { TomlDocument } from "./toml-document.ts";
import type { TreePath } from "./tree-path.ts";

/** A server in a configuration file, and its path. */
export interface ServerPlace {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly path: TreePath;
  readonly options: JsonObject;
}

/** Returns the servers in one file, in the order of the schema's tables, then in file order. */
export function serversOf(tree: JsonObject, schema: OptionSchema): readonly ServerPlace[] {
  return tablesOf(tree, schema).flatMap(({ path, value, table }) =>
    entriesOf(value, table).flatMap(({ name, step, value: options }): ServerPlace[] =>
      isJsonObject(options) ? [{ name, kind: table.kind, path: [...path, step], options }] : [],
    ),
  );
}

/** A server to be written. */
export interface NewServer {
  readonly kind: ProviderKind;
  readonly name: string;
  /**
   * Options of the server. They include the server's name if its kind is configured as a list, not as a table keyed by
   * name.
   */
  readonly options: JsonObject;
  /** Comment above the server. @default none */
  readonly comment?: string | undefined;
}

/** Adds servers to the tables or lists of their kinds. */
export function addServers(
  document: TomlDocument,
  servers: readonly NewServer[],
  schema: OptionSchema,
): Promise<TomlDocument> {
  const additions = servers.map(({ kind, name, options: table, comment }) => {
    const { path, isList } = tableOf(kind, schema);
    return { path: isList ? path : [...path, name], table, comment, isEntry: isList };
  });
  return document.addAll(additions);
}

export function addServer(document: TomlDocument, server: NewServer, schema: OptionSchema): Promise<TomlDocument> {
  return addServers(document, [server], schema);
}

/** Returns a tree with only one server. */
export function treeOf({ kind, name, options }: NewServer, schema: OptionSchema): JsonObject {
  const { path, isList } = tableOf(kind, schema);
  const held: unknown = isList ? [options] : { [name]: options };
  return path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), held) as JsonObject;
}

function tableOf(kind: ProviderKind, schema: OptionSchema): { readonly path: TreePath; readonly isList: boolean } {
  const found = tablesOf({}, schema).find(({ table }) => table.kind === kind);
  if (!found) throw new Error(`The configuration has no table for servers of the kind ${kind}.`);
  return found;
}

/** Option of a file that lists local paths of one kind of tools. */
export interface PathList {
  readonly kind: ProviderKind;
  /** Name of the section in the file. */
  readonly section: string;
  readonly key: string;
  /** Paths that apply if the section lists none. */
  readonly usual: readonly string[];
  /** True if even a single path is written as a list. */
  readonly isAlwaysList: boolean;
  readonly places: ToolPlaces;
}

/** Returns the lists of every kind, in the order of the schema. */
export function pathListsOf(tree: JsonObject, schema: OptionSchema): readonly PathList[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, { "~table": facts, properties = {} }]) => {
    const { places, formerly } = facts ?? {};
    if (!places) return [];
    const isFormer = formerly !== undefined && isJsonObject(tree[formerly]) && !isJsonObject(tree[name]);
    const { kind, key } = places;
    const { default: usual = [], type } = properties[key] ?? {};
    const section = isFormer ? formerly : name;
    return [{ kind, section, key, usual: [usual].flat().map(String), isAlwaysList: type === "array", places }];
  });
}

/** Returns the paths of one list as written. */
export function pathsOf(tree: JsonObject, { section, key, usual }: PathList): readonly string[] {
  const table = tree[section];
  if (!isJsonObject(table)) return [];
  const value = table[key];
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : usual;
}

/** Returns whether a list contains a path. Both are relative to `folder`. */
export function hasPath(
  tree: JsonObject,
  list: PathList,
  { folder, path }: { readonly folder: string; readonly path: string },
): boolean {
  return pathsOf(tree, list).some((one) => resolve(folder, one) === resolve(folder, path));
}

/** Adds a path to a list. */
export async function addPath(document: TomlDocument, list: PathList, path: string): Promise<TomlDocument> {
  const { section, key, isAlwaysList } = list;
  const { tree } = document;
  const table = tree[section];
  if (!isJsonObject(table))
    return document.addAll([{ path: [section], table: { [key]: isAlwaysList ? [path] : path } }]);
  if (Array.isArray(table[key])) return document.addValue([section, key], path);
  const paths = [...pathsOf(tree, list), path];
  return document.set([section], key, paths.length === 1 && !isAlwaysList ? path : paths);
}

/** Removes a path from a list. Removing the last path also removes a table that is then empty. */
export async function removePath(
  document: TomlDocument,
  list: PathList,
  matches: (path: string) => boolean,
): Promise<TomlDocument> {
  const { section, key } = list;
  const table = document.tree[section];
  if (!isJsonObject(table)) return document;
  const paths = pathsOf(document.tree, list);
  const at = paths.findIndex(matches);
  if (at === -1) return document;
  if (Array.isArray(table[key]) && paths.length > 1) return document.remove([section, key, String(at)]);
  const saysMore = Object.keys(table).some((other) => other !== key);
  return saysMore ? document.set([section], key, []) : document.remove([section]);
}
