import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathListsOf } from "../../config/edit/sources.ts";
import type { ProviderKind } from "../../core/sources/provider-kinds.ts";
import type { BroughtBy, ToolPlaces } from "../../core/sources/table-facts.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { UsageError } from "../failure.ts";

/** Kind of the tools at a path, and the path that the configuration must list. */
export interface ToolsAt {
  readonly kind: ProviderKind;
  readonly path: string;
}

/** Determines the kind of tools in a file or folder. Throws a `UsageError` that lists the kinds that were tried. */
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
  const text = /\.(?:m?[jt]s|py)$/.test(path) ? await readFile(path, "utf8") : "";
  const file = { name: basename(path), siblings: await namesIn(folder), text };
  return firstOf(
    (places) => places.ofFile(file),
    (by) => (by === "file" ? path : by === "folder" ? folder : dirname(folder)),
  );
}

async function inFolder(path: string): Promise<ToolsAt | undefined> {
  const names = await namesIn(path);
  const own = firstOf(
    (places) => places.ofFolder(names),
    (by) => (by === "parent" ? dirname(path) : path),
  );
  if (own) return own;
  const inner = (await readdir(path, { withFileTypes: true }).catch(() => [])).filter((entry) => !entry.isFile());
  for (const { name } of inner.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_FOLDERS)) {
    const within = await namesIn(join(path, name));
    const found = firstOf(
      (places) => places.ofFolder(within),
      () => path,
    );
    if (found) return found;
  }
  return undefined;
}

/** Maximum number of subfolders that are searched for the first tool. */
const MAX_FOLDERS = 1000;

/**
 * Returns the first kind of tools that `asked` recognises. Modules are tried last, because any program file can be a
 * module.
 */
function firstOf(
  asked: (places: ToolPlaces) => BroughtBy | undefined,
  pathBy: (by: BroughtBy) => string,
): ToolsAt | undefined {
  for (const { kind, places } of pathListsOf({}, CONFIG_SCHEMA).toReversed()) {
    const by = asked(places);
    if (by !== undefined) return { kind, path: pathBy(by) };
  }
  return undefined;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
