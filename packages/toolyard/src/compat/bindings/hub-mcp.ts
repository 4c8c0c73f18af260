import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { assertObjects, assertOptions, snakeKeys } from "../option-keys.ts";
import { HubBinding } from "./hub-binding.ts";

export interface HubMCPOptions {
  /** Configuration files; later files have precedence. @default none */
  readonly config?: string | readonly string[];
  /** Options with the keys of `toolyard.toml`, which override files and environment. @default {} */
  readonly settings?: HubConfig;
  /** Environment for `${VAR}` and `TOOLYARD_…`. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Logger. @default as configured in `[logging]`, on standard error */
  readonly logger?: Logger;
}

/** A binding with the whole hub: all tools of all sources and of the hub. */
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
      throw new OptionError(
        `\`config\` must be the path of a file, or a list of paths, got ${JSON.stringify(config)}.`,
      );
    super("hub_mcp", { config, settings, ...rest }, { settings: () => settings, config, isWhole: true, ...rest });
  }
}
