import { locateConfig } from "../config/locate.ts";
import type { JsonObject } from "../core/json.ts";
import type { Logger } from "../core/ports.ts";
import { loadHubConfig, openHub } from "./open-hub.ts";
import { Reloader } from "./reload.ts";
import type { HubConfig } from "./schema.ts";
import { serveHttp, type ServedHttp } from "./serve.ts";
import type { Toolyard } from "./toolyard.ts";

export interface CreateHubOptions {
  /** Configuration files, rising in precedence. @default none */
  readonly config?: string | readonly string[];
  /** Options in the keys of `toolyard.toml`; they win over files and environment. @default {} */
  readonly settings?: HubConfig;
  /** Where `${VAR}` and `TOOLYARD_…` are looked up. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** @default as `[logging]` says, on standard error */
  readonly logger?: Logger;
  /** Takes changed files over while the hub runs. @default false */
  readonly watch?: boolean;
}

/** A program is no stranger: it may call as often as it likes, unless its configuration says otherwise. */
const BASE: JsonObject = { limits: { rate_per_minute: 0, in_flight: 0 } };

export interface LibraryHub extends Toolyard {
  /** Serves MCP on HTTP as `[server]` says. Closing the hub closes it, too. Rejects with an `OptionError` when it cannot listen. */
  serve(): Promise<ServedHttp>;
}

/**
 * Makes a hub for a program. Sources start in the background; the first list waits for them a bounded time. Rejects with a
 * `ConfigError` or `OptionError` when the configuration cannot be used. `close()` ends everything that was started.
 */
export async function createHub(options: CreateHubOptions = {}): Promise<LibraryHub> {
  const { settings = {}, variables = process.env, watch = false } = options;
  const named = typeof options.config === "string" ? [options.config] : (options.config ?? []);
  const files = named.length > 0 ? locateConfig(named, variables, process.cwd()) : [];
  const load = () => loadHubConfig({ files, variables, base: BASE, flags: settings as JsonObject });
  const hub = await openHub({ config: await load(), variables, ...(options.logger ? { logger: options.logger } : {}) });
  const reloader = new Reloader({ hub, load });
  const served: ServedHttp[] = [];
  const base = hub.toolyard({ door: "library" });
  if (watch) await reloader.watch(files);
  return {
    ...base,
    serve: async () => {
      const one = await serveHttp(hub, (hub.config.tree as HubConfig).server ?? {});
      served.push(one);
      return one;
    },
    close: async () => {
      await reloader.close();
      await Promise.all(served.map((one) => one.close()));
      await base.close();
    },
  };
}
