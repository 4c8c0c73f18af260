import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { assertObjects, assertOptions, snakeKeys } from "../option-keys.ts";
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
    } = snakeKeys(assertOptions("HubMCPBinding", options, 'config: "toolyard.toml"'), [
      "config",
      "settings",
      "variables",
      "logger",
    ]) as HubMCPOptions;
    assertObjects({ settings, variables: rest.variables });
    const files: unknown[] = [config].flat();
    if (!files.every((file) => typeof file === "string"))
      throw new OptionError(`\`config\` must be the path of a file, or a list of them, got ${JSON.stringify(config)}.`);
    super("hub_mcp", { config, settings }, { settings: () => settings, config, isWhole: true, ...rest });
  }
}
