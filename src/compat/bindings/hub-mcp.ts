import type { Logger } from "../../core/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { snakeKeys } from "../option-keys.ts";
import { HubBinding } from "./hub-binding.ts";

export interface HubMCPOptions {
  /** Configuration files, rising in precedence. @default none */
  readonly config?: string | readonly string[];
  /** Options in the keys of `toolyard.toml`; they win over files and environment. @default {} */
  readonly settings?: HubConfig;
  /** Where `${VAR}` and `TOOLYARD_…` are looked up. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** @default as `[logging]` says, on standard error */
  readonly logger?: Logger;
}

/** The whole hub as one binding: every tool of every source, with the hub's own. */
export class HubMCPBinding extends HubBinding {
  constructor(options: HubMCPOptions = {}) {
    const {
      config = [],
      settings = {},
      ...rest
    } = snakeKeys(options, ["config", "settings", "variables", "logger"]) as HubMCPOptions;
    super("hub_mcp", { config, settings }, { settings: () => settings, config, isWhole: true, ...rest });
  }
}
