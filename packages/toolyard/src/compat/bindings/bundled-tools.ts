import { isJsonObject } from "../../core/json/json.ts";
import { messageOf } from "../../core/errors.ts";
import { DEFAULT_TOOL_NAMES, type DefaultToolName } from "../../core/names/own-names.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { resolveModels } from "../../models/options.ts";
import { resolveDefaultTools } from "../../providers/defaults/options.ts";
import { resolveSandbox } from "../../sandbox/options.ts";
import { resolveWebSearch } from "../../websearch/options.ts";
import { withoutSources } from "../source-hub.ts";
import type { BindingProblem } from "./hub-binding.ts";
import { sentence } from "./usable-servers.ts";

/** Options of the bundled tools, as tables of the configuration. */
export type BundledTables = Pick<HubConfig, "default_tools" | "web_search" | "sandbox" | "models">;

/** An option, and the tools that require it. */
interface OptionOfTools {
  readonly name: string;
  readonly tools: readonly DefaultToolName[];
  /** A configuration with this option only. */
  readonly config: HubConfig;
}

interface CheckedOptions {
  /** Configuration of the valid options. */
  readonly config: HubConfig;
  readonly problems: readonly BindingProblem[];
  /** Disabled tools by name, each with the reason. */
  readonly disabled: ReadonlyMap<string, string>;
}

const FILES: readonly DefaultToolName[] = ["file_writer", "generate_image_from_prompt"];
const IMAGES: readonly DefaultToolName[] = ["generate_image_from_prompt"];
/**
 * Members of `[default_tools]`, with the tools that require them. Members that are missing here, except `enable`,
 * belong to no tool.
 */
const MEMBER_TOOLS: Readonly<Record<string, readonly DefaultToolName[]>> = {
  file_roots: FILES,
  max_file_size: FILES,
  image_timeout: IMAGES,
};
const NAMES: readonly string[] = ["all", ...DEFAULT_TOOL_NAMES];

/** Checks the options of the default tools one by one. An invalid option disables the tools that require it. */
export async function checkBundled({ default_tools: given = {}, ...tables }: BundledTables): Promise<CheckedOptions> {
  const { enable = ["all"], ...members } = given;
  const checked = await checkOptions([...memberOptions(members), ...tableOptions(tables)]);
  const wanted: readonly string[] = Array.isArray(enable) ? enable : [];
  const unknown = Array.isArray(enable) ? wanted.filter((name) => !NAMES.includes(name)) : [enable];
  const named = wanted.includes("all")
    ? DEFAULT_TOOL_NAMES
    : DEFAULT_TOOL_NAMES.filter((name) => wanted.includes(name));
  const usable = named.filter((name) => !checked.disabled.has(name));
  return {
    ...checked,
    config: { ...checked.config, default_tools: { ...checked.config.default_tools, enable: usable } },
    problems: [...unknown.map(unknownTool), ...checked.problems],
  };
}

function unknownTool(name: unknown): BindingProblem {
  const message = `\`default_tools.enable\` names ${JSON.stringify(name)}. There are ${NAMES.join(", ")}.`;
  return { source: "default_tools", message };
}

function memberOptions(members: Readonly<Record<string, unknown>>): readonly OptionOfTools[] {
  return Object.entries(members).map(([key, value]) => ({
    name: `default_tools.${key}`,
    tools: MEMBER_TOOLS[key] ?? [],
    config: { default_tools: { [key]: value } as HubConfig["default_tools"] & object },
  }));
}

function tableOptions({ web_search: web, sandbox, models }: BundledTables): readonly OptionOfTools[] {
  return [
    ...(web ? [{ name: "web_search", tools: ["internet_search"] as const, config: { web_search: web } }] : []),
    ...(sandbox ? [{ name: "sandbox", tools: ["python_interpreter"] as const, config: { sandbox } }] : []),
    ...(models ? [{ name: "models", tools: IMAGES, config: { models } }] : []),
  ];
}

/** Checks each option as a separate configuration: its type, its variables and files, and its limits. */
export async function checkOptions(options: readonly OptionOfTools[]): Promise<CheckedOptions> {
  const checks = await Promise.all(options.map(async (option) => ({ option, message: await problemOf(option) })));
  const usable = checks.filter(({ message }) => message === undefined).map(({ option }) => option.config);
  const unusable = checks.flatMap(({ option, message }) => (message === undefined ? [] : [{ ...option, message }]));
  return {
    config: usable.reduce(joined, {}),
    problems: unusable.map(({ name, tools, message }) => ({
      source: tools[0] ?? name,
      message: tools.length === 0 ? message : `${message} Disabled: ${tools.join(", ")}.`,
    })),
    disabled: new Map(unusable.flatMap(({ tools, message }) => tools.map((tool) => [tool, message] as const))),
  };
}

async function problemOf({ config }: OptionOfTools): Promise<string | undefined> {
  try {
    const { tree } = await loadHubConfig({ files: [], variables: withoutSources(process.env), flags: config });
    resolveDefaultTools(tree.default_tools);
    resolveWebSearch(tree.web_search);
    resolveSandbox(tree.sandbox);
    resolveModels(tree.models);
    return undefined;
  } catch (error) {
    return sentence(messageOf(error));
  }
}

function joined(all: HubConfig, one: HubConfig): HubConfig {
  const members = { ...all.default_tools, ...one.default_tools };
  return {
    ...all,
    ...one,
    ...(isJsonObject(members) && Object.keys(members).length > 0 && { default_tools: members }),
  };
}
