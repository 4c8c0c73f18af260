import { existsSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { readDocument } from "../document.ts";
import { convertServers, serverTable } from "../mcp-json.ts";
import type { KnownFile } from "./known-files.ts";

export interface ImportedServer {
  readonly alias: string;
  readonly program: string;
  readonly file: string;
  readonly kind: "stdio" | "http";
  /** The server's options in the keys of `toolyard.toml`. */
  readonly options: JsonObject;
}

export interface ImportReport {
  readonly servers: readonly ImportedServer[];
  /** Servers that an earlier file, or the target, already has. */
  readonly skipped: readonly { readonly alias: string; readonly file: string; readonly reason: string }[];
  readonly warnings: readonly string[];
  /** Files that were there. */
  readonly files: readonly KnownFile[];
}

/** Reads the files that exist and gathers their servers; the first file that has an alias keeps it. */
export async function importServers(candidates: readonly KnownFile[], taken: ReadonlySet<string>): Promise<ImportReport> {
  const files = candidates.filter(({ path }) => existsSync(path));
  const servers = new Map<string, ImportedServer>();
  const skipped: ImportReport["skipped"][number][] = [];
  const warnings: string[] = [];
  for (const file of files) {
    for (const server of await serversOf(file, warnings)) {
      if (taken.has(server.alias)) skipped.push({ alias: server.alias, file: file.path, reason: "the target already has a server of this name" });
      else if (servers.has(server.alias)) skipped.push({ alias: server.alias, file: file.path, reason: `${servers.get(server.alias)!.program} has one of this name` });
      else servers.set(server.alias, server);
    }
  }
  return { servers: [...servers.values()], skipped, warnings, files };
}

async function serversOf(file: KnownFile, warnings: string[]): Promise<ImportedServer[]> {
  try {
    const { tree } = await readDocument(file.path);
    // A document that was JSON is converted already; a TOML of another program, or one with more beside its servers, is not.
    const converted = isJsonObject(tree["mcp"]) ? tree["mcp"] : convertServers(serverTable(tree) ?? {});
    if ("warnings" in converted) warnings.push(...(converted["warnings"] as readonly string[]).map((warning) => `${file.path}: ${warning}`));
    const stdio = Object.entries(isJsonObject(converted["stdio_servers"]) ? converted["stdio_servers"] : {});
    const remote = Array.isArray(converted["remote_servers"]) ? (converted["remote_servers"] as JsonObject[]) : [];
    return [
      ...stdio.map(([alias, options]) => ({ alias, program: file.program, file: file.path, kind: "stdio" as const, options: options as JsonObject })),
      ...remote.map((options) => ({ alias: String(options["namespace"]), program: file.program, file: file.path, kind: "http" as const, options })),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    warnings.push(...error.problems);
    return [];
  }
}

/** The servers as text to add to a `toolyard.toml`. */
export async function toTomlText(servers: readonly ImportedServer[]): Promise<string> {
  const { stringify } = await import("smol-toml");
  const parts = servers.map(({ alias, program, kind, options }) => {
    const tree = kind === "stdio" ? { mcp: { stdio_servers: { [alias]: options } } } : { mcp: { remote_servers: [options] } };
    return `# from ${program}\n${stringify(tree).trim()}\n`;
  });
  return parts.join("\n");
}
