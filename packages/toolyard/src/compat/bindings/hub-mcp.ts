import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { assertObjects, assertOptions, snakeKeys } from "../option-keys.ts";
import { HubBinding } from "./hub-binding.ts";

export interface HubMCPOptions {
  /** Configuration files, later ones take precedence. @default none */
  readonly config?: string | readonly string[];
  /** Options with the keys of `toolyard.toml`, which override files and environment. @default {} */
  readonly settings?: HubConfig;
  /** Source of `${VAR}` and `TOOLYARD_…`. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** @default as configured in `[logging]`, on standard error */
  readonly logger?: Logger;
}

/** The whole hub as one binding: all tools of all sources and of the hub. */
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
    super("hub_mcp", { config, settings, ...rest }, { settings: () => settings, config, isWhole: true, ...rest });
  }
}
