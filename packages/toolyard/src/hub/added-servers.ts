import { remoteName } from "../providers/http/remote-name.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { RemoteServerConfig } from "../providers/http/options.ts";
import type { StdioServerConfig } from "../providers/stdio/options.ts";
import type { HubConfig } from "./schema.ts";

/**
 * MCP servers that a program adds to a running hub. They are stored as a layer of settings, so that a reload keeps
 * them.
 */
export class AddedServers {
  readonly #servers = new Map<string, StdioServerConfig | RemoteServerConfig>();

  /** Adds a server. The returned function undoes that. */
  add(alias: string, server: StdioServerConfig | RemoteServerConfig): () => void {
    const before = this.#servers.get(alias);
    this.#servers.set(alias, server);
    return () => {
      if (before) this.#servers.set(alias, before);
      else this.#servers.delete(alias);
    };
  }

  remove(alias: string): boolean {
    return this.#servers.delete(alias);
  }

  /** Returns the settings with the added servers. An added server replaces one of the same name in the settings. */
  over(settings: HubConfig): JsonObject {
    const { mcp = {} } = settings;
    const isAdded = (alias: string): boolean => this.#servers.has(alias);
    const stdio = Object.fromEntries(Object.entries(mcp.stdio_servers ?? {}).filter(([alias]) => !isAdded(alias)));
    const remote: JsonObject[] = (mcp.remote_servers ?? []).filter((entry) => !isAdded(remoteName(entry)));
    for (const [alias, server] of this.#servers) {
      if ("command" in server) stdio[alias] = server;
      else remote.push({ alias, namespace: alias, ...server });
    }
    const servers = {
      ...(Object.keys(stdio).length > 0 ? { stdio_servers: stdio } : {}),
      ...(remote.length > 0 ? { remote_servers: remote } : {}),
    };
    return { ...settings, ...(Object.keys(servers).length > 0 ? { mcp: servers } : {}) };
  }
}
