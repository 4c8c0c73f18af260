import { join } from "node:path";
import type { ModuleHub } from "toolyard";
import { findGnnFiles } from "../directory-check.ts";
import { ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import * as schemas from "./schemas.ts";

interface FindArguments {
  readonly search_directory: string;
  readonly recursive?: boolean;
}

/** Subfolder for each kind of output. */
const OUTPUTS = {
  exports: "gnn_exports",
  reports: "gnn_type_check",
  pictures: "visualization",
  programs: "rendered_programs",
  summaries: "llm_summaries",
} as const;

/** Registers the tools that prepare folders and find models. */
export function registerSetup(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<{ readonly directory_path: string }>({
    name: "setup.ensure_directory_exists",
    description: "Creates a folder and its parent folders if they do not exist.",
    schema: schemas.input({ directory_path: { type: "string", description: "Path of the folder." } }, [
      "directory_path",
    ]),
    aliases: ["ensure_directory_exists"],
    annotations: schemas.WRITES_FILES,
    handler: async ({ directory_path: wanted }) => ({ success: true, ...(await files.folder(wanted)) }),
  });
  hub.registerTool<FindArguments>({
    name: "setup.find_project_gnn_files",
    description: "Lists the files of a folder that may contain GNN: files that end in .md, .gnn or .csv.",
    schema: schemas.input(
      {
        search_directory: { type: "string", description: "Path of the folder." },
        recursive: { type: "boolean", default: false, description: "Includes subfolders." },
      },
      ["search_directory"],
    ),
    aliases: ["find_project_gnn_files"],
    annotations: schemas.READS_FILES,
    handler: async ({ search_directory: wanted, recursive = false }) => {
      const found = await findGnnFiles(await folderOf(files, wanted), { recursive });
      return { success: true, files: found, count: found.length };
    },
  });
  hub.registerTool<{ readonly base_output_directory: string }>({
    name: "setup.get_standard_output_paths",
    description:
      "Returns the standard folders for exports, reports, pictures, programs and summaries below a common folder.",
    schema: schemas.input({ base_output_directory: { type: "string", description: "Path of the common folder." } }, [
      "base_output_directory",
    ]),
    aliases: ["get_standard_output_paths"],
    annotations: schemas.READS_FILES,
    handler: async ({ base_output_directory: base }) => ({
      success: true,
      paths: Object.fromEntries(Object.entries(OUTPUTS).map(([kind, name]) => [kind, join(base, name)])),
    }),
  });
}

async function folderOf(files: ModelFiles, path: string): Promise<string> {
  try {
    return await files.existing(path);
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure(`Directory not found: ${path}`, "invalid_params");
  }
}
