import { resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { remoteName } from "../../providers/http/remote-name.ts";
import type { TomlDocument } from "./toml-document.ts";
import type { Path } from "./tree-path.ts";

/** A server of a configuration file, and where it stands in it. */
export interface ServerPlace {
  readonly name: string;
  readonly kind: "stdio" | "http";
  readonly path: Path;
  readonly options: JsonObject;
}

/** The servers that one file says something about, in its order. */
export function serversOf(tree: JsonObject): readonly ServerPlace[] {
  const mcp = isJsonObject(tree["mcp"]) ? tree["mcp"] : {};
  const stdio = isJsonObject(mcp["stdio_servers"]) ? mcp["stdio_servers"] : {};
  const remote: readonly unknown[] = Array.isArray(mcp["remote_servers"]) ? mcp["remote_servers"] : [];
  return [
    ...Object.entries(stdio).flatMap(([name, options]): ServerPlace[] =>
      isJsonObject(options) ? [{ name, kind: "stdio", path: ["mcp", "stdio_servers", name], options }] : [],
    ),
    ...remote.flatMap((options, index): ServerPlace[] =>
      isJsonObject(options)
        ? [{ name: remoteName(options), kind: "http", path: ["mcp", "remote_servers", String(index)], options }]
        : [],
    ),
  ];
}

/** Where a file keeps the places of one kind of tools on this machine. */
export interface PathList {
  /** `scriptling` is another spelling of `scripts`. */
  readonly section: "modules" | "scripts" | "scriptling" | "folders";
  readonly key: "paths" | "tools_path";
}

export const MODULES: PathList = { section: "modules", key: "paths" };
export const FOLDERS: PathList = { section: "folders", key: "tools_path" };
const SCRIPTS: PathList = { section: "scripts", key: "tools_path" };
const SCRIPTLING: PathList = { section: "scriptling", key: "tools_path" };

export function scriptsOf(tree: JsonObject): PathList {
  return isJsonObject(tree["scriptling"]) && !isJsonObject(tree["scripts"]) ? SCRIPTLING : SCRIPTS;
}

/** What is in force while `[scripts]` names no folder. */
const DEFAULT_SCRIPTS = "tools";

/** The paths of one list as they are written. */
export function pathsOf(tree: JsonObject, { section, key }: PathList): readonly string[] {
  const table = tree[section];
  if (!isJsonObject(table)) return [];
  const value = table[key];
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.map(String);
  return section.startsWith("script") ? [DEFAULT_SCRIPTS] : [];
}

/** Whether a list names a path; both count from `folder`. */
export function hasPath(
  tree: JsonObject,
  list: PathList,
  { folder, path }: { readonly folder: string; readonly path: string },
): boolean {
  return pathsOf(tree, list).some((one) => resolve(folder, one) === resolve(folder, path));
}

/** Adds a path to a list. */
export async function addPath(document: TomlDocument, list: PathList, path: string): Promise<TomlDocument> {
  const { section, key } = list;
  const { tree } = document;
  const table = tree[section];
  if (!isJsonObject(table)) return document.addTable([section], { [key]: key === "paths" ? [path] : path });
  if (Array.isArray(table[key])) return document.addValue([section, key], path);
  const paths = [...pathsOf(tree, list), path];
  return document.set([section], key, paths.length === 1 && key !== "paths" ? path : paths);
}

/** Takes a path out of a list; with the last one its table goes, where it says nothing else. */
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
