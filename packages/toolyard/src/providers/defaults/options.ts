import { resolve } from "node:path";
import { bytesOption, formatBytes } from "../../core/text/bytes.ts";
import { durationOption } from "../../core/text/duration.ts";
import { OptionError } from "../../core/errors.ts";
import { Type, type Static } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { DEFAULT_TOOL_NAMES, type DefaultToolName } from "../../core/names/own-names.ts";

const ALL = "all";
const NAMES: readonly string[] = DEFAULT_TOOL_NAMES;
const MAX_FILE_BYTES = 1024 ** 3;

export const DefaultToolsSchema = Type.Object(
  {
    enable: Type.Optional(
      Type.Array(Type.Enum([ALL, ...DEFAULT_TOOL_NAMES]), {
        description:
          "Tools to offer: their names, or `all`. None is offered by default, because they write files, contact " +
          "network services and run code.",
        default: [],
        examples: [["internet_search"]],
      }),
    ),
    file_roots: Type.Optional(
      Type.Array(Type.Path({ minLength: 1 }), {
        description:
          "Folders that the tools write to; they write nowhere else. A caller's relative path starts in the first " +
          "one, which is created if missing.",
        default: ["files"],
        minItems: 1,
      }),
    ),
    max_file_size: Type.Optional(
      bytesOption(
        { description: "Maximum size of one file, including its previous content.", default: "10MiB" },
        { least: 1, most: MAX_FILE_BYTES, must: `must be from 1 B to ${formatBytes(MAX_FILE_BYTES)}` },
      ),
    ),
    image_timeout: Type.Optional(
      durationOption(
        { description: "How long drawing one image may take.", default: "5m" },
        { least: 1, most: 3_600_000, must: "must be from 1 ms to 1 hour" },
      ),
    ),
  },
  { description: "The tools that come with Toolyard." },
);
export type DefaultToolsConfig = Static<typeof DefaultToolsSchema>;

export interface DefaultToolsOptions {
  readonly enable: readonly DefaultToolName[];
  /** Absolute paths; at least one. */
  readonly fileRoots: readonly string[];
  readonly maxFileBytes: number;
  readonly imageTimeoutMs: number;
}

/** Returns the options with defaults. Relative paths start at `folder`. Throws an `OptionError`. */
export function resolveDefaultTools(raw: DefaultToolsConfig = {}, folder: string = process.cwd()): DefaultToolsOptions {
  const options = readOptions(DefaultToolsSchema, raw, "default_tools.");
  const { file_roots: roots } = options;
  const enable: readonly string[] = options.enable;
  const unknown = enable.find((name) => name !== ALL && !NAMES.includes(name));
  if (unknown !== undefined)
    throw new OptionError(
      `\`default_tools.enable\` names ${JSON.stringify(unknown)}. ` +
        `There are ${[ALL, ...DEFAULT_TOOL_NAMES].join(", ")}.`,
    );
  if (roots.length === 0) throw new OptionError("`default_tools.file_roots` is empty. Name a folder, or leave it out.");
  return Object.freeze({
    enable: Object.freeze(DEFAULT_TOOL_NAMES.filter((name) => enable.includes(ALL) || enable.includes(name))),
    fileRoots: Object.freeze(Array.from(new Set(roots.map((root) => resolve(folder, root))))),
    maxFileBytes: options.max_file_size,
    imageTimeoutMs: options.image_timeout,
  });
}
