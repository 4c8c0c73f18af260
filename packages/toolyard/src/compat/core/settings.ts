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
   * Source roots: folders with subfolders that contain a file `mcp.ts` (`.mts`, `.mjs`, `.js`) or `mcp.py`. Added to
   * those of the configuration. @default none
   */
  readonly paths?: readonly string[];
  /** Configuration files; later files have precedence. All their sources are served too. @default none */
  readonly config?: string | readonly string[];
  /** Options with the keys of `toolyard.toml`, which override files and environment. @default {} */
  readonly settings?: HubConfig;
  /** Environment for `${VAR}` and `TOOLYARD_…`. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Logger. @default as configured in `[logging]`, on standard error */
  readonly logger?: Logger;
  /** Called one second after the start with the modules that are still being imported. @default no call */
  readonly onWaiting?: (modules: readonly string[]) => void;
}

/**
 * Base settings of a core. It has no rate limit unless configured, offers only registered tools, and runs code only if
 * configured.
 */
const BASE: JsonObject = {
  builtin: { execute_code: false, server_description: CORE_DESCRIPTION, meta_visibility: "native" },
  limits: { rate_per_minute: 0, in_flight: 0 },
};

/** Configuration of a core, before and after module discovery. */
export interface CoreConfig {
  /** Configuration with modules and the hub's `meta.*` tools, which are a module of this server (G70). */
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
  // GNN tools are modules here, so no GNN service is started.
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

/** Returns the folder of the GNN modules (`gnn`, `gnn_type_checker`, `export` …) if [services] enables GNN. */
function gnnModules({ services }: HubConfig): readonly string[] {
  return services?.gnn ? [serverFolder("gnn", "modules")] : [];
}

function withTree(config: LoadedHubConfig, tree: HubConfig): LoadedHubConfig {
  return { ...config, tree };
}

/**
 * Sets the default sources of a core: `./toolyard.toml` or the user's file, else the source root `src` of the working
 * directory.
 */
export function withDefaultSources(options: MCPOptions, cwd = process.cwd()): MCPOptions {
  if (options.paths ?? options.config ?? options.settings) return options;
  const config = locateConfig([], options.variables ?? process.env, cwd);
  const root = join(cwd, "src");
  return { ...options, config, paths: config.length === 0 && existsSync(root) ? [root] : [] };
}
