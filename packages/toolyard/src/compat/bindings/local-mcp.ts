import { fileURLToPath } from "node:url";
import { KINDS } from "../../core/calls/kinds.ts";
import { OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { assertObjects, assertOptions, snakeKeys } from "../option-keys.ts";
import type { ExecuteToolOptions, ToolResult } from "./binding.ts";
import { checkBundled, checkOptions, type BundledTables } from "./bundled-tools.ts";
import { HubBinding, type BindingProblem } from "./hub-binding.ts";

export interface LocalMCPOptions {
  /**
   * Folder with one subfolder per tool: `<tool>/<tool>.mcp.json` and `<tool>.py`, `.ts`, `.js` or `.mjs` with a
   * function `execute`.
   * @default null: the bundled tools
   */
  readonly toolsFolderPath?: string | URL | null;
  readonly tools_folder_path?: string | URL | null;
  /** Settings of the bundled tools, with the keys of `[default_tools]` and `[web_search]`. @default all four tools */
  readonly defaultTools?: NonNullable<HubConfig["default_tools"]>;
  readonly default_tools?: NonNullable<HubConfig["default_tools"]>;
  readonly webSearch?: NonNullable<HubConfig["web_search"]>;
  readonly web_search?: NonNullable<HubConfig["web_search"]>;
  /** Engine and limits of `python_interpreter`, with the keys of `[sandbox]`. */
  readonly sandbox?: NonNullable<HubConfig["sandbox"]>;
  /** Models for tools, with the keys of `[models]`; models of a client instance take precedence. @default none */
  readonly models?: NonNullable<HubConfig["models"]>;
  /** Logger. @default standard error, from level warning */
  readonly logger?: Logger;
}

/**
 * A binding for local scripts, with a separate child process for each call; without a folder, for the bundled tools.
 * Throws an `OptionError` if the folder is not a path.
 */
export class LocalMCPBinding extends HubBinding {
  /** Options that were invalid when the settings were last loaded, and the tools that they disable. */
  #unusable: readonly BindingProblem[] = [];
  #disabled: ReadonlyMap<string, string> = new Map();

  constructor(options: LocalMCPOptions = {}) {
    const {
      tools_folder_path: given,
      logger,
      ...tables
    } = snakeKeys(assertOptions("LocalMCPBinding", options, 'tools_folder_path: "my-tools"'), [
      "tools_folder_path",
      "logger",
      ...TABLES,
    ]);
    assertObjects(tables);
    const folder = folderOf(given);
    super(
      "local_mcp",
      { tools_folder_path: folder, ...tables, ...(logger ? { logger } : {}) },
      {
        settings: () => this.#settings(folder, tables),
        ...(logger ? { logger: logger as Logger } : {}),
      },
    );
  }

  override get diagnostics(): readonly BindingProblem[] {
    return [...this.#unusable, ...super.diagnostics];
  }

  override async executeTool(toolName: string, params?: JsonObject, options?: ExecuteToolOptions): Promise<ToolResult> {
    const result = await super.executeTool(toolName, params, options);
    const reason = result.status_code === KINDS.unknown_tool.status ? this.#disabled.get(toolName) : undefined;
    if (reason === undefined) return result;
    return { error: `${toolName} is disabled: ${reason}`, status_code: KINDS.unavailable.status };
  }

  async #settings(folder: string | null, tables: BundledTables): Promise<HubConfig> {
    const { models } = tables;
    const { config, problems, disabled } = await (folder === null
      ? checkBundled(tables)
      : checkOptions([{ name: "models", tools: [], config: models ? { models } : {} }]));
    this.#unusable = problems;
    this.#disabled = disabled;
    return folder === null ? config : { ...config, folders: { tools_path: folder } };
  }
}

const TABLES = ["default_tools", "web_search", "sandbox", "models"] as const;

function folderOf(given: unknown): string | null {
  if (given === undefined || given === null) return null;
  if (given instanceof URL) return fileURLToPath(given);
  if (typeof given === "string" && given !== "") return given;
  throw new OptionError(
    "`tools_folder_path` must be the path of a folder with tools, or null for the bundled tools; " +
      `got ${JSON.stringify(given)}.`,
  );
}
