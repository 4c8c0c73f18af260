import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve, sep } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { OptionSchema } from "../../core/options/option-schema.ts";
import { checkConfig, formatPath } from "../check.ts";
import { readTree } from "../document.ts";
import { treeOf } from "../edit/sources.ts";
import { convertServers, serverTable } from "../mcp-json.ts";
import { toPlainEntry, type PlainEntry } from "./client-entry.ts";
import { variableSyntax, type TranslationContext } from "./client-variables.ts";
import type { KnownFile } from "./known-files.ts";
import { differenceOf, serverLabel } from "./same-server.ts";

export interface ImportedServer {
  readonly alias: string;
  readonly program: string;
  readonly file: string;
  readonly kind: "stdio" | "http";
  /** Options of the server, with the keys of `toolyard.toml`. */
  readonly options: JsonObject;
  /** Variables to set before the server starts: values for which the program prompts, and unset references. */
  readonly variables: readonly string[];
  /** Keys of the program's entry with a setting that `toolyard.toml` does not support. */
  readonly uncarried: readonly string[];
  /** Reason why only the program can run the server. Absent: the hub can run it. */
  readonly refusal?: string;
}

export interface SkippedServer {
  readonly alias: string;
  readonly file: string;
  readonly reason: string;
  /** True if the target has a server of the same name with the same settings. */
  readonly isSame: boolean;
}

export interface ImportReport {
  readonly servers: readonly ImportedServer[];
  /** Servers that an earlier file or the target already has, and unusable servers. */
  readonly skipped: readonly SkippedServer[];
  readonly warnings: readonly string[];
  /** The files that exist. */
  readonly files: readonly KnownFile[];
}

export interface ImportOptions {
  /** Existing servers of the target, by name. */
  readonly taken: ReadonlyMap<string, JsonObject>;
  /** The `toolyard.toml` to which the servers are added. */
  readonly target: string;
  /** Current folder. Servers that a program keeps for one folder are imported only if it is this folder. */
  readonly cwd: string;
  /** Schema of the whole configuration, because an invalid server would make the rest of the target unusable. */
  readonly schema: OptionSchema;
  /** Environment that decides which referenced variables are set. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Reads the existing files and collects their servers. If several files use an alias, the first file keeps it. */
export async function importServers(candidates: readonly KnownFile[], options: ImportOptions): Promise<ImportReport> {
  const files = candidates.filter(({ path }) => existsSync(path));
  const servers = new Map<string, ImportedServer>();
  const skipped: ImportReport["skipped"][number][] = [];
  const warnings: string[] = [];
  for (const file of files) {
    for (const server of await serversOf(file, options, warnings)) {
      const reason = refusal(server, servers.get(server.alias), options);
      if (reason === undefined) servers.set(server.alias, server);
      else skipped.push({ alias: server.alias, file: file.path, reason, isSame: isSame(server, options) });
    }
  }
  warnings.push(...twins([...servers.values()], options.taken));
  return { servers: [...servers.values()], skipped, warnings, files };
}

/** Name of the hub itself in clients. */
export const HUB_NAME = "toolyard";

/** Returns warnings about servers that occur under two names, because each of their tools would be listed twice. */
function twins(servers: readonly ImportedServer[], taken: ReadonlyMap<string, JsonObject>): readonly string[] {
  const known = Array.from(taken, ([alias, options]) => ({ alias, where: "the target", options }));
  return servers.flatMap(({ alias, program, options }) => {
    const twin = known.find((other) => differenceOf(options, other.options) === undefined);
    known.push({ alias, where: program, options });
    return twin
      ? [
          `"${alias}" of ${program} and "${twin.alias}" of ${twin.where} run the same ` +
            `(${serverLabel(options)}), so that ` +
            "each of its tools would exist twice; remove one entry",
        ]
      : [];
  });
}

function refusal(
  server: ImportedServer,
  other: ImportedServer | undefined,
  { taken, schema }: ImportOptions,
): string | undefined {
  if (server.alias === HUB_NAME && isHub(server.options)) return "that is this hub";
  if (server.refusal !== undefined) return server.refusal;
  const there = taken.get(server.alias);
  if (there) return `the target already has a server of this name${further(server.options, there)}`;
  if (other) return `${other.program} has a server of this name${further(server.options, other.options)}`;
  const problems = checkConfig(treeOf({ ...server, name: server.alias }, schema), schema).map(
    ({ path, message }) => `${formatPath(path)}: ${message}`,
  );
  return problems.length > 0 ? problems.join("; ") : undefined;
}

function isSame({ alias, options }: ImportedServer, { taken }: ImportOptions): boolean {
  const there = taken.get(alias);
  return there !== undefined && differenceOf(options, there) === undefined;
}

function further(here: JsonObject, there: JsonObject): string {
  const difference = differenceOf(here, there);
  return difference === undefined ? "" : `, but with ${difference}. Rename one of the two to keep both`;
}

/** Returns whether an entry has the form that `toolyard connect` writes. */
function isHub({ args, url }: JsonObject): boolean {
  return url !== undefined || (Array.isArray(args) && args.includes("serve"));
}

/** Returns whether an entry of a client's file, in the client's own keys, starts a hub or has a URL. */
export function isHubEntry(entry: unknown): boolean {
  if (!isJsonObject(entry)) return false;
  const { command, args, url, serverUrl, httpUrl } = entry;
  if ([url, serverUrl, httpUrl].some((address) => address !== undefined)) return true;
  return [command, args].some((words) => Array.isArray(words) && words.includes("serve"));
}

async function serversOf(file: KnownFile, options: ImportOptions, warnings: string[]): Promise<ImportedServer[]> {
  try {
    const { tree } = await readTree(file.path);
    const context = translationContext(file, tree, options);
    const tables = tablesOf(tree, options.cwd).map((table) => serversIn(table, file, { ...options, context }));
    warnings.push(...tables.flatMap((table) => table.warnings));
    return tables.flatMap(({ servers }) => servers);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    warnings.push(...error.problems);
    return [];
  }
}

function translationContext(file: KnownFile, tree: JsonObject, options: ImportOptions): TranslationContext {
  const folder = dirname(file.path);
  const { workspace } = file;
  return {
    syntax: variableSyntax(file.program, tree),
    program: file.program,
    variables: options.variables,
    workspace,
    workspaceReference: workspace === dirname(options.target) ? "${workspaceFolder}" : workspace,
    resolveFile: (path) => (/^~[\\/]/.test(path) ? resolve(homedir(), path.slice(2)) : resolve(folder, path)),
    pathSeparator: sep,
  };
}

/** Returns all server tables in a file: first the servers for the folder `cwd`, then those for all folders. */
function tablesOf(tree: JsonObject, cwd: string): JsonObject[] {
  const projects = isJsonObject(tree["projects"]) ? tree["projects"] : {};
  const project = Object.entries(projects).find(([folder]) => resolve(folder) === cwd)?.[1];
  const tables = [isJsonObject(project) ? project["mcpServers"] : undefined, serverTable(tree) ?? openCodeTable(tree)];
  return tables.filter(isJsonObject);
}

/** Returns OpenCode's servers: `mcp: {name: {type: "local" | "remote", …}}`. */
function openCodeTable({ mcp }: JsonObject): JsonObject | undefined {
  const entries = isJsonObject(mcp) ? Object.values(mcp) : [];
  const isTable =
    entries.length > 0 &&
    entries.every((entry) => isJsonObject(entry) && ("command" in entry || "url" in entry || "enabled" in entry));
  return isTable ? (mcp as JsonObject) : undefined;
}

/** Returns the servers of one table of a client's file, including those that the hub cannot run. */
export function serversOfTable(table: JsonObject, file: KnownFile, options: ImportOptions): readonly ImportedServer[] {
  return serversIn(table, file, { ...options, context: translationContext(file, {}, options) }).servers;
}

interface ImportedTable {
  readonly servers: readonly ImportedServer[];
  readonly warnings: readonly string[];
}

const NO_OPTIONS: Omit<PlainEntry, "entry"> = { options: {}, variables: [], uncarried: [] };

interface TableContext extends ImportOptions {
  readonly context: TranslationContext;
}

function serversIn(table: JsonObject, file: KnownFile, { target, context }: TableContext): ImportedTable {
  const plain = new Map(
    Object.entries(table).map(([alias, entry]) => [
      alias,
      // An entry that is not an object is kept here, and reported with the other omitted entries.
      isJsonObject(entry) ? toPlainEntry(entry, context) : { entry, ...NO_OPTIONS },
    ]),
  );
  const {
    stdio_servers: stdio,
    remote_servers: remote,
    warnings: found,
  } = convertServers(Object.fromEntries([...plain].map(([alias, { entry }]) => [alias, entry])));
  const server = (alias: string, kind: "stdio" | "http", converted: JsonObject): ImportedServer => {
    const { options, variables, uncarried, refusal } = plain.get(alias) ?? NO_OPTIONS;
    const own = { ...converted, ...options };
    return {
      alias,
      program: file.program,
      file: file.path,
      kind,
      variables,
      uncarried,
      ...(refusal !== undefined && { refusal }),
      options: kind === "stdio" ? placed(own, file.workspace, dirname(target)) : own,
    };
  };
  const servers = [
    ...Object.entries(stdio).map(([alias, converted]) => server(alias, "stdio", converted as JsonObject)),
    ...remote.map((converted) => server(String(converted["namespace"]), "http", converted)),
  ];
  return { servers, warnings: found.map((warning) => `${file.path}: ${warning}`) };
}

/** Makes relative paths absolute if the target is in another folder than the client's file. */
function placed(options: JsonObject, workspace: string | undefined, targetFolder: string): JsonObject {
  if (workspace === undefined || workspace === targetFolder) return options;
  const absolute = (path: unknown): unknown =>
    typeof path === "string" && !/^(?:\$\{|~[\\/])/.test(path) ? resolve(workspace, path) : path;
  return {
    ...options,
    cwd: absolute(options["cwd"] ?? workspace),
    ...("env_file" in options && { env_file: absolute(options["env_file"]) }),
  };
}

/** Returns the servers as text for a `toolyard.toml`. */
export async function toTomlText(servers: readonly ImportedServer[], schema: OptionSchema): Promise<string> {
  const { stringify } = await import("smol-toml");
  const trees = servers.map((server) => treeOf({ ...server, name: server.alias }, schema));
  return servers.map(({ program }, at) => `# from ${program}\n${stringify(trees[at]!).trim()}\n`).join("\n");
}
