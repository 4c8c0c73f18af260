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

const paths = <const N extends { description: string; default: string | readonly string[] }>(notes: N) =>
  Type.Union([Type.Path({ minLength: 1 }), Type.Array(Type.Path({ minLength: 1 }))], notes);

export const DEFAULT_FOLDER = "tools";

/** Options of the section `[scripts]`, also named `[scriptling]`. */
export const ScriptsSchema = Type.Object(
  {
    tools_path: Type.Optional(
      paths({
        description: "Folder, or list of folders, with one folder per tool: a tool.toml next to its script.",
        default: DEFAULT_FOLDER,
      }),
    ),
    libraries_path: Type.Optional(
      paths({
        description: "Folder, or list of folders, that scripts may import from: put on PYTHONPATH and NODE_PATH.",
        default: [],
      }),
    ),
    allow_dirname_as_name: Type.Optional(
      Type.Boolean({ description: "If true, a tool.toml without `name` gets the name of its folder.", default: false }),
    ),
    timeout: Type.Optional(
      durationOption({
        description:
          "Maximum time of a call without activity, for tools that do not set their own. Absent: the hub's limit.",
      }),
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
  { description: "Script tools: folders with a tool.toml. Changes apply at the next request." },
);
export type ScriptsConfig = Static<typeof ScriptsSchema>;

export interface ScriptsOptions {
  /** Absolute paths. If two folders contain a tool of the same name, the tool in the earlier folder is used. */
  readonly toolsPaths: readonly string[];
  readonly librariesPaths: readonly string[];
  readonly allowDirnameAsName: boolean;
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
export function resolveScripts(raw: ScriptsConfig = {}, folder: string = process.cwd()): ScriptsOptions {
  const options = readOptions(ScriptsSchema, raw, "scripts.");
  return Object.freeze({
    toolsPaths: toPaths(options.tools_path, folder),
    librariesPaths: toPaths(options.libraries_path, folder),
    allowDirnameAsName: options.allow_dirname_as_name,
    timeoutMs: options.timeout,
    maxOutputBytes: options.max_output,
    dependencies: options.dependencies,
    settings: resolveRunOptions(raw, "scripts"),
    shape: resolveShape(raw, "scripts."),
  });
}

function toPaths(value: string | readonly string[], folder: string): readonly string[] {
  const paths = typeof value === "string" ? [value] : value;
  return Object.freeze(Array.from(new Set(paths.map((path) => resolve(folder, path)))));
}
