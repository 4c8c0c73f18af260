import { existsSync } from "node:fs";
import { mkdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonicalJson, contentDigest } from "../core/digest.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { readDocument } from "./document.ts";

/** A configuration file that somebody else may have written, and what it would start here. */
export interface ForeignFile {
  /** Without links. */
  readonly path: string;
  /** Why it may be somebody else's, as the end of a sentence about the file. */
  readonly why: string;
  /** One line for each thing that it starts. Holds no value of a variable. */
  readonly starts: readonly string[];
  /** Of everything that decides what is started. */
  readonly digest: string;
}

/**
 * What a file would start, where it belongs to another user or lies inside of a git work tree: such a file may have
 * come with a folder that was only meant to be read. Nothing where it starts nothing, or is plainly one's own.
 */
export async function foreignFile(file: string): Promise<ForeignFile | undefined> {
  const path = await realpath(file);
  const why = await whyForeign(path);
  if (why === undefined) return undefined;
  const commands = commandsIn((await readDocument(path)).tree);
  const starts = describe(commands);
  return starts.length === 0 ? undefined : { path, why, starts, digest: contentDigest(canonicalJson(commands)) };
}

async function whyForeign(path: string): Promise<string | undefined> {
  const { uid } = await stat(path);
  if (process.getuid && uid !== process.getuid()) return "belongs to another user";
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return "is inside of a git work tree";
    if (folder === dirname(folder)) return undefined;
  }
}

interface Commands {
  readonly servers: JsonObject;
  /** Sections whose folders and files hold code that is run, and the programs of the sandbox. */
  readonly code: JsonObject;
}

/** Keys of `[sandbox]` that name programs and builds. */
const SANDBOX_PROGRAMS = ["python", "deno", "python_wasm"];

function commandsIn(tree: JsonObject): Commands {
  const mcp = tableOf(tree, "mcp");
  const servers = Object.entries(tableOf(mcp, "stdio_servers")).flatMap(([alias, entry]) => {
    if (!isJsonObject(entry) || entry["enabled"] === false) return [];
    const { command, args, cwd, env, inherit_env } = entry;
    return [[alias, { command, args, cwd, env, inherit_env }] as const];
  });
  const sections = ["modules", "scripts", "scriptling", "folders", "bindings"].flatMap((name) =>
    isJsonObject(tree[name]) ? [[name, tree[name]] as const] : [],
  );
  const programs = Object.entries(tableOf(tree, "sandbox")).filter(([key]) => SANDBOX_PROGRAMS.includes(key));
  const sandbox = programs.length === 0 ? [] : [["sandbox", Object.fromEntries(programs)] as const];
  return { servers: Object.fromEntries(servers), code: Object.fromEntries([...sections, ...sandbox]) };
}

function tableOf(tree: JsonObject, key: string): JsonObject {
  const table = tree[key];
  return isJsonObject(table) ? table : {};
}

function describe({ servers, code }: Commands): readonly string[] {
  return [
    ...Object.entries(servers).map(([alias, entry]) => `[mcp.stdio_servers.${alias}] ${wordsOf(entry)}`),
    ...Object.entries(code).flatMap(([section, table]) => {
      const words = placesOf(section, table);
      return words === undefined ? [] : [`[${section}] ${words}`];
    }),
  ];
}

function wordsOf(entry: unknown): string {
  if (!isJsonObject(entry)) return "";
  const { command, args } = entry;
  return [command, args]
    .flatMap((words) => (words === undefined ? [] : words))
    .map(String)
    .join(" ");
}

const PLACES = ["paths", "tools_path", "libraries_path", "dir", ...SANDBOX_PROGRAMS];

function placesOf(section: string, table: unknown): string | undefined {
  if (!isJsonObject(table)) return undefined;
  const named = PLACES.flatMap((key) => table[key] ?? []).map(String);
  if (named.length > 0) return named.join(", ");
  // Where it names no folder, `[scripts]` takes `tools`; the others take none.
  return section === "scripts" || section === "scriptling" ? "tools" : undefined;
}

/** More than anybody has; the oldest go first. */
const MAX_ACCEPTED = 1000;

/** The files that somebody accepted, with the digest of what they start, in the data folder. */
export class AcceptedFiles {
  readonly #file: string;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, "accepted-files.json");
  }

  async has({ path, digest }: Pick<ForeignFile, "path" | "digest">): Promise<boolean> {
    return (await this.#read()).get(path) === digest;
  }

  /** Rejects with the system's error, or a `ConfigError`, where the list cannot be written. */
  async accept({ path, digest }: Pick<ForeignFile, "path" | "digest">): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    // Most commands only read the list, so what writes it is loaded here.
    const { withFileLock } = await import("../process/file-lock.ts");
    const { replaceFile } = await import("./edit/replace-file.ts");
    await withFileLock(`${this.#file}.lock`, async () => {
      const accepted = await this.#read();
      if (accepted.get(path) === digest) return;
      accepted.delete(path);
      accepted.set(path, digest);
      const kept = [...accepted].slice(-MAX_ACCEPTED);
      await replaceFile(this.#file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
    });
  }

  /** A list that cannot be read accepts nothing. */
  async #read(): Promise<Map<string, string>> {
    const text = await readFile(this.#file, "utf8").catch(() => "{}");
    try {
      const parsed: unknown = JSON.parse(text);
      const entries = isJsonObject(parsed) ? Object.entries(parsed) : [];
      return new Map(entries.flatMap(([path, digest]) => (typeof digest === "string" ? [[path, digest]] : [])));
    } catch {
      return new Map();
    }
  }
}
