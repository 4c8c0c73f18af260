import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { FOLDERS, MODULES, scriptsOf, type PathList } from "../config/edit/sources.ts";
import type { JsonObject } from "../core/json.ts";
import { UsageError } from "./failure.ts";

/** Where in the configuration tools that lie on this machine belong, and the path that brings them. */
export interface ToolsAt {
  readonly list: (tree: JsonObject) => PathList;
  readonly path: string;
}

const MODULE_FILE = /^mcp\.(?:ts|mts|mjs|js|py)$/;
const MANIFEST = "tool.toml";
const DESCRIPTION = /\.mcp\.json$/;

/** Looks what kind of tools a file or a folder holds. Throws a `UsageError` that says what was looked for. */
export async function toolsAt(path: string, given: string): Promise<ToolsAt> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats)
    throw new UsageError(
      `There is no file or folder ${given}. A server is added with its command or its address: toolyard add ` +
        "<name> -- <command>, toolyard add <name> <url>.",
    );
  const found = stats.isDirectory() ? await inFolder(path) : await atFile(path);
  if (found) return found;
  throw new UsageError(
    `${given} holds no tools: there is no tool.toml, no <tool>.mcp.json and no function registerTools ` +
      "(register_tools in Python). `toolyard new` writes one.",
  );
}

async function atFile(path: string): Promise<ToolsAt | undefined> {
  const folder = dirname(path);
  const names = await namesIn(folder);
  if (names.includes(MANIFEST)) return { list: scriptsOf, path: dirname(folder) };
  const stem = basename(path, extname(path));
  if (DESCRIPTION.test(path) || names.includes(`${stem}.mcp.json`)) return { list: () => FOLDERS, path: folder };
  const text = /\.(?:m?[jt]s|py)$/.test(path) ? await readFile(path, "utf8") : "";
  return /\bregister_?tools\b/i.test(text) ? { list: () => MODULES, path } : undefined;
}

async function inFolder(path: string): Promise<ToolsAt | undefined> {
  const own = kindOf(await namesIn(path));
  if (own === "script") return { list: scriptsOf, path: dirname(path) };
  if (own !== undefined) return { list: listOf(own), path };
  const inner = (await readdir(path, { withFileTypes: true }).catch(() => [])).filter((entry) => !entry.isFile());
  for (const { name } of inner.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_FOLDERS)) {
    const kind = kindOf(await namesIn(join(path, name)));
    if (kind !== undefined) return { list: listOf(kind), path };
  }
  return undefined;
}

/** Sub-folders that are looked into for a first tool. */
const MAX_FOLDERS = 1000;

type Kind = "script" | "folder" | "module";

function kindOf(names: readonly string[]): Kind | undefined {
  if (names.includes(MANIFEST)) return "script";
  if (names.some((name) => DESCRIPTION.test(name))) return "folder";
  return names.some((name) => MODULE_FILE.test(name)) ? "module" : undefined;
}

function listOf(kind: Kind): ToolsAt["list"] {
  if (kind === "script") return scriptsOf;
  return () => (kind === "folder" ? FOLDERS : MODULES);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
