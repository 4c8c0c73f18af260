import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { matchesGlob } from "../../core/text/glob.ts";
import { HUB_NAME } from "../import/import-servers.ts";
import { readTree } from "../document.ts";
import type { ClientKind } from "./clients.ts";

/**
 * Returns limits that a client's file sets outside the entries of its servers, by the name of a server or by the names
 * of its tools. The hub cannot enforce them for one client, so these servers stay in the client. Returns the reason for
 * each server.
 */
export async function clientLimits(
  { id, table }: ClientKind,
  path: string,
  tree: JsonObject,
): Promise<ReadonlyMap<string, string>> {
  const servers = tree[table];
  const names = isJsonObject(servers) ? Object.keys(servers) : [];
  const find = LIMITS[id];
  const settings = id === "claude-code" ? await claudeCodeSettings(path) : tree;
  return new Map(
    names.flatMap((name) => {
      const key = find?.(name, settings);
      return key === undefined ? [] : [[name, `the client's file has rules for it in \`${key}\``] as const];
    }),
  );
}

/** Returns the key by which a client's file keeps the hub itself from being used. */
export function hubBlock({ id }: ClientKind, tree: JsonObject): string | undefined {
  return id === "gemini" ? LIMITS["gemini"]?.(HUB_NAME, tree) : undefined;
}

/** Reads Claude Code's settings, which contain the rules for tools. Claude Code lists its servers in another file. */
async function claudeCodeSettings(path: string): Promise<JsonObject> {
  const folder = dirname(path);
  const file = [join(folder, ".claude", "settings.json"), join(folder, "settings.json")].find((one) => existsSync(one));
  return file === undefined ? {} : (await readTree(file)).tree;
}

/** Returns the key in the client's file that limits a server, or undefined. */
type FindLimit = (name: string, tree: JsonObject) => string | undefined;

const LIMITS: Readonly<Record<string, FindLimit>> = {
  gemini: (name, { mcp, allowMCPServers, excludeMCPServers }) => {
    const { allowed, excluded } = isJsonObject(mcp) ? mcp : {};
    if (Array.isArray(allowed) && !allowed.includes(name)) return "mcp.allowed";
    if (Array.isArray(excluded) && excluded.includes(name)) return "mcp.excluded";
    if (Array.isArray(allowMCPServers) && !allowMCPServers.includes(name)) return "allowMCPServers";
    return Array.isArray(excludeMCPServers) && excludeMCPServers.includes(name) ? "excludeMCPServers" : undefined;
  },
  // Rules name tools as `mcp__<server>__<tool>`. They would not apply to the same tools of the hub, which have other
  // names.
  "claude-code": (name, { permissions }) => {
    const lists = isJsonObject(permissions) ? permissions : {};
    const own = `mcp__${name}`;
    const isOwn = (rule: unknown): boolean => typeof rule === "string" && (rule === own || rule.startsWith(`${own}__`));
    const list = ["deny", "ask", "allow"].find((key) => {
      const rules = lists[key];
      return Array.isArray(rules) && rules.some(isOwn);
    });
    return list === undefined ? undefined : `permissions.${list}`;
  },
  // OpenCode names a tool `<server>_<tool>`, and an agent may have its own list.
  opencode: (name, { tools, permission, agent, mode }) => {
    if (namesTools(tools, name)) return "tools";
    if (namesTools(permission, name)) return "permission";
    const agents = [agent, mode].flatMap((one) => (isJsonObject(one) ? Object.values(one) : []));
    const isOfAgent = agents.some(
      (one) => isJsonObject(one) && (namesTools(one["tools"], name) || namesTools(one["permission"], name)),
    );
    return isOfAgent ? "agent" : undefined;
  },
};

/** Returns whether patterns name tools of a server. The pattern for all tools (`*`) does not. */
function namesTools(patterns: unknown, server: string): boolean {
  if (!isJsonObject(patterns)) return false;
  const prefix = `${server}_`;
  return Object.keys(patterns).some(
    (pattern) =>
      pattern !== "*" && (pattern.startsWith(prefix) || pattern === `${server}*` || matchesGlob(pattern, prefix)),
  );
}
