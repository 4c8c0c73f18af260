import { durationOption } from "../../core/text/duration.ts";
import { type Static, Type } from "../../core/options/option-schema.ts";
import { readOptions } from "../../core/options/option-values.ts";
import { resolveShape, SHAPE_MEMBERS } from "../shape-options.ts";
import type { ListingShape, Visibility } from "../../core/sources/listing-shape.ts";

/** Options of the section `[modules]`. */
export const ModulesSchema = Type.Object({
  paths: Type.Optional(
    Type.Array(Type.Path(), {
      description:
        "Folders with sub-folders that contain a file `mcp.ts`, `mcp.mts`, `mcp.mjs`, `mcp.js` or `mcp.py` (the " +
        "folder itself may hold one too; in a folder called `mcp` also `meta_mcp`), and single module files.",
      default: [],
    }),
  ),
  allowlist: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Modules that may load, by dotted name (`tools.export.mcp`) or folder name (`export`), with `*` and " +
        "`?`. Empty: all.",
      default: [],
    }),
  ),
  timeout: Type.Optional(
    durationOption(
      {
        description: "Maximum time of one module's import and its `registerTools` together.",
        default: "30s",
      },
      { least: 1, must: "must be above 0" },
    ),
  ),
  namespace: Type.Optional(
    Type.String({
      description: "Prefix of names without a dot. Names such as `export.to_json` are used unchanged.",
      default: "",
    }),
  ),
  env: Type.Optional(
    Type.Record(Type.Variable(), {
      description:
        "Variables of the Python processes that run `mcp.py` files, in addition to those that every child " +
        "process gets.",
      default: {},
    }),
  ),
  inherit_env: Type.Optional(
    Type.Array(Type.String(), {
      description: "Names of further environment variables of the hub that these processes get.",
      default: [],
    }),
  ),
  visibility: Type.Optional(
    Type.Enum(["native", "ondemand"], {
      description: "Visibility of tools that do not set their own.",
      default: "native",
    }),
  ),
  ...SHAPE_MEMBERS,
});

export type ModulesConfig = Static<typeof ModulesSchema>;

export interface ModulesOptions {
  readonly paths: readonly string[];
  readonly allowlist: readonly string[];
  readonly timeoutMs: number;
  readonly namespace: string;
  readonly visibility: Visibility;
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: readonly string[];
  readonly shape: ListingShape;
}

export function resolveModules(raw: ModulesConfig = {}): ModulesOptions {
  const options = readOptions(ModulesSchema, raw, "modules.");
  const { paths, allowlist, timeout: timeoutMs, namespace, visibility, env } = options;
  return Object.freeze({
    paths: Object.freeze([...paths]),
    allowlist: Object.freeze([...allowlist]),
    timeoutMs,
    namespace,
    visibility,
    env: Object.freeze({ ...env }),
    inheritEnv: Object.freeze([...options.inherit_env]),
    shape: resolveShape(raw, "modules."),
  });
}
