import { fileURLToPath } from "node:url";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { snakeKeys } from "../option-keys.ts";
import { HubBinding } from "./hub-binding.ts";

export interface LocalMCPOptions {
  /**
   * Folder with one sub-folder a tool: `<tool>/<tool>.mcp.json` beside `<tool>.py`, `.ts`, `.js` or `.mjs` with a
   * function `execute`.
   * @default null: the tools that come with the package
   */
  readonly toolsFolderPath?: string | URL | null;
  readonly tools_folder_path?: string | URL | null;
  /**
   * Settings of the tools that come with the package, in the keys of `[default_tools]` and `[web_search]`. @default all
   * four tools
   */
  readonly defaultTools?: NonNullable<HubConfig["default_tools"]>;
  readonly default_tools?: NonNullable<HubConfig["default_tools"]>;
  readonly webSearch?: NonNullable<HubConfig["web_search"]>;
  readonly web_search?: NonNullable<HubConfig["web_search"]>;
  /** Where `python_interpreter` runs, and its bounds, in the keys of `[sandbox]`. */
  readonly sandbox?: NonNullable<HubConfig["sandbox"]>;
  /** @default standard error, from warnings on */
  readonly logger?: Logger;
}

/**
 * Tools that are local scripts, each call in a child of its own; or, without a folder, the tools that come with the
 * package. Throws an `OptionError` for a folder that is no path.
 */
export class LocalMCPBinding extends HubBinding {
  constructor(options: LocalMCPOptions = {}) {
    const {
      tools_folder_path: given = null,
      logger,
      default_tools: defaultTools = {},
      web_search: webSearch = {},
      sandbox = {},
    } = snakeKeys(options, ["tools_folder_path", "logger", "default_tools", "web_search", "sandbox"]);
    if (given !== null && !(given instanceof URL) && (typeof given !== "string" || given === "")) {
      throw new OptionError(
        "`tools_folder_path` must name the folder with the tools, or be null for those of the package; " +
          `got ${JSON.stringify(given)}.`,
      );
    }
    const folder = given instanceof URL ? fileURLToPath(given) : given;
    const bundled: HubConfig = {
      default_tools: { enable: ["all"], ...(defaultTools as object) },
      web_search: webSearch as object,
      sandbox: sandbox as object,
    };
    super(
      "local_mcp",
      { tools_folder_path: folder },
      {
        settings: () => (folder === null ? bundled : { folders: { tools_path: folder } }),
        ...(logger ? { logger: logger as Logger } : {}),
      },
    );
  }
}
