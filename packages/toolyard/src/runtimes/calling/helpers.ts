import { fileURLToPath } from "node:url";
import type { HubPorts } from "./hub-access.ts";

/** Folders in which scripts find `toolyard` and `llmr.mcp` (Python), and `toolyard/script` (Node, by `require`). */
const PYTHON_FOLDER = fileURLToPath(new URL("python", import.meta.url));
const NODE_FOLDER = fileURLToPath(new URL("node", import.meta.url));

/** Search path variables of Python and Node, and for each the hub's folder that is appended to the variable's value. */
export const HELPER_PATHS: readonly (readonly [variable: string, folder: string])[] = Object.freeze([
  ["PYTHONPATH", PYTHON_FOLDER],
  ["NODE_PATH", NODE_FOLDER],
]);

/** Folders that a child must be able to read in addition to its own. */
export const HELPER_FOLDERS: readonly string[] = Object.freeze([PYTHON_FOLDER, NODE_FOLDER]);

/** Arguments of Node with which a script can write `import … from "toolyard/script"`. */
export const NODE_HELPER_ARGS: readonly string[] = Object.freeze([
  "--require",
  fileURLToPath(new URL("node/preload.cjs", import.meta.url)),
]);

/** Descriptors of the child: it writes to the first, and reads from the second. */
const DESCRIPTORS = "3,4";

/** Returns the environment variables that describe to the helpers how to reach the hub, and which models exist. */
export function callingVariables({ models }: Pick<HubPorts, "models">): Record<string, string> {
  const offered = [...(models.generateText ? ["text"] : []), ...(models.generateImage ? ["image"] : [])];
  return { TOOLYARD_DESCRIPTORS: DESCRIPTORS, TOOLYARD_MODELS: offered.join(",") };
}
