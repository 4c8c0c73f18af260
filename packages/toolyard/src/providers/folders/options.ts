import { resolve } from "node:path";
import { bytesOption } from "../../core/text/bytes.ts";
import { durationOption } from "../../core/text/duration.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import type { ListingShape } from "../../core/sources/listing-shape.ts";
import type { RunSettings } from "../../runtimes/scripts/run-settings.ts";
import { resolveShape, SHAPE_MEMBERS } from "../shape-options.ts";
import type { Dependencies } from "../tool-folders/prepare/preparations.ts";
import { DEPENDENCIES_OPTION, resolveRunOptions, RUN_OPTIONS } from "../tool-folders/run-options.ts";

/** Options of the section `[folders]`. */
export const FoldersSchema = Type.Object(
  {
    tools_path: Type.Union([Type.Path({ minLength: 1 }), Type.Array(Type.Path({ minLength: 1 }))], {
      description:
        "Folder, or list of folders, with <tool>/<tool>.mcp.json next to <tool>.py, .ts, .js or .mjs; both files " +
        "can also be directly in the folder.",
    }),
    libraries_path: Type.Optional(
      Type.Union([Type.Path({ minLength: 1 }), Type.Array(Type.Path({ minLength: 1 }))], {
        description: "Folder, or list of folders, that tools may import from: put on PYTHONPATH and NODE_PATH.",
        default: [],
      }),
    ),
    visibility: Type.Optional(
      Type.Enum(["native", "ondemand"], {
        description: "`native`: these tools are listed. `ondemand`: only search finds them.",
        default: "native",
      }),
    ),
    timeout: Type.Optional(
      durationOption({ description: "Maximum time of a call without activity. Absent: the hub's limit." }),
    ),
    max_output: Type.Optional(
      bytesOption({
        description: "Maximum output of one call, on all its descriptors together.",
        default: 10_000_000,
      }),
    ),
    dependencies: DEPENDENCIES_OPTION,
    ...SHAPE_MEMBERS,
    ...RUN_OPTIONS,
  },
  { description: "Tool folders: a .mcp.json file next to a script with `execute`." },
);
export type FoldersConfig = Static<typeof FoldersSchema>;

export interface FoldersOptions {
  /** Absolute paths. If two folders contain a tool of the same name, the tool in the earlier folder is used. */
  readonly toolsPaths: readonly string[];
  readonly librariesPaths: readonly string[];
  readonly visibility: "native" | "ondemand";
  readonly timeoutMs: number | undefined;
  readonly maxOutputBytes: number;
  /** Dependencies of tools that are installed without consent. */
  readonly dependencies: Dependencies;
  /** Defaults for tools that do not set them. */
  readonly settings: RunSettings;
  readonly shape: ListingShape;
}

/**
 * Returns the options with defaults. Relative paths start at `folder`. Throws an `OptionError` for an invalid size or
 * time.
 */
export function resolveFolders(raw: FoldersConfig, folder: string = process.cwd()): FoldersOptions {
  const options = readOptions(FoldersSchema, raw, "folders.");
  return Object.freeze({
    toolsPaths: toPaths(options.tools_path, folder),
    librariesPaths: toPaths(options.libraries_path, folder),
    visibility: options.visibility,
    timeoutMs: options.timeout,
    maxOutputBytes: options.max_output,
    dependencies: options.dependencies,
    settings: resolveRunOptions(raw, "folders"),
    shape: resolveShape(raw, "folders."),
  });
}

function toPaths(value: string | readonly string[], folder: string): readonly string[] {
  const paths = typeof value === "string" ? [value] : value;
  return Object.freeze(Array.from(new Set(paths.map((path) => resolve(folder, path)))));
}
