import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { serverFolder } from "../../extras/server-package.ts";
import { locateConfig } from "../../config/locate.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { CORE_DESCRIPTION } from "../../providers/builtin/options.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import type { HubConfig, LoadedHubConfig } from "../../hub/schema.ts";

export interface MCPOptions {
  /**
   * Source roots: folders whose sub-folders hold a file `mcp.ts` (`.mts`, `.mjs`, `.js`), or `mcp.py`. Added to
   * those of the configuration. @default none
   */
  readonly paths?: readonly string[];
  /** Configuration files, rising in precedence; all that they name is served, too. @default none */
  readonly config?: string | readonly string[];
  /** Options in the keys of `toolyard.toml`; they win over files and environment. @default {} */
  readonly settings?: HubConfig;
  /** Where `${VAR}` and `TOOLYARD_…` are looked up. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** @default as `[logging]` says, on standard error */
  readonly logger?: Logger;
  /** Hears, a second after it began, which modules are still being imported. @default nobody */
  readonly onWaiting?: (modules: readonly string[]) => void;
}

/**
 * A program is no stranger: it may call as often as it likes, unless its configuration says otherwise. A core offers
 * what it was given, and runs no code unasked.
 */
const BASE: JsonObject = {
  builtin: { execute_code: false, server_description: CORE_DESCRIPTION, meta_visibility: "native" },
  limits: { rate_per_minute: 0, in_flight: 0 },
};

/** The configuration of a core, before and after its modules were discovered. */
export interface CoreConfig {
  /** With modules, and with the hub's `meta.*` tools, which are a module of this server (G70). */
  readonly discovered: LoadedHubConfig;
  readonly bare: LoadedHubConfig;
}

export async function loadCoreConfig({
  paths = [],
  config = [],
  settings = {},
  variables = process.env,
}: MCPOptions): Promise<CoreConfig> {
  const named = typeof config === "string" ? [config] : config;
  const files = named.length > 0 ? locateConfig(named, variables, process.cwd()) : [];
  const loaded = await loadHubConfig({ files, variables, base: BASE, flags: settings });
  const tree = loaded.tree;
  const roots = [...(tree.modules?.paths ?? []), ...paths.map((path) => resolve(path)), ...gnnModules(tree)];
  // Here the tools of GNN are modules as others are, so nobody starts them as a service.
  const services = { ...tree.services, gnn: false };
  return {
    discovered: withTree(loaded, { ...tree, services, modules: { ...tree.modules, paths: roots } }),
    bare: withTree(loaded, {
      ...tree,
      services,
      modules: { ...tree.modules, paths: [] },
      builtin: { ...tree.builtin, meta_tools: false },
    }),
  };
}

/** `gnn`, `gnn_type_checker`, `export` and the others, where [services] asks for them. */
function gnnModules({ services }: HubConfig): readonly string[] {
  return services?.gnn ? [serverFolder("gnn", "modules")] : [];
}

function withTree(config: LoadedHubConfig, tree: HubConfig): LoadedHubConfig {
  return { ...config, tree };
}

/**
 * What a core stands on when nobody says it: `./toolyard.toml` or the user's own, and where there is none, the source
 * root `src` of the working directory.
 */
export function withDefaultSources(options: MCPOptions, cwd = process.cwd()): MCPOptions {
  if (options.paths ?? options.config ?? options.settings) return options;
  const config = locateConfig([], options.variables ?? process.env, cwd);
  const root = join(cwd, "src");
  return { ...options, config, paths: config.length === 0 && existsSync(root) ? [root] : [] };
}
