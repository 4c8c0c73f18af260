import { fileURLToPath } from "node:url";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports.ts";
import { snakeKeys } from "../option-keys.ts";
import { HubBinding } from "./hub-binding.ts";

export interface LocalMCPOptions {
  /** Folder with one sub-folder a tool: `<tool>/<tool>.mcp.json` beside `<tool>.py`, `.ts`, `.js` or `.mjs` with a function `execute`. */
  readonly toolsFolderPath?: string | URL;
  readonly tools_folder_path?: string | URL;
  /** @default standard error, from warnings on */
  readonly logger?: Logger;
}

/** Tools that are local scripts. Each call runs in a child of its own. Throws an `OptionError` without a folder. */
export class LocalMCPBinding extends HubBinding {
  constructor(options: LocalMCPOptions) {
    const { tools_folder_path: given, logger } = snakeKeys(options, ["tools_folder_path", "logger"]);
    if (!(given instanceof URL) && (typeof given !== "string" || given === "")) {
      throw new OptionError(`\`tools_folder_path\` must name the folder with the tools, got ${JSON.stringify(given)}.`);
    }
    const folder = given instanceof URL ? fileURLToPath(given) : given;
    super("local_mcp", { tools_folder_path: folder }, {
      settings: () => ({ folders: { tools_path: folder } }),
      ...(logger ? { logger: logger as Logger } : {}),
    });
  }
}
