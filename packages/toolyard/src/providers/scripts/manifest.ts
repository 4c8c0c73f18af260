import { parse } from "smol-toml";
import { messageOf } from "../../core/errors.ts";
import { HINT_META_KEY } from "../../core/calls/hint.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";
import type { ToolLimits } from "../../core/sources/records.ts";
import type { PartialRunSettings } from "../../runtimes/scripts/run-settings.ts";
import type { ScriptEnvironment } from "../../runtimes/scripts/run-script.ts";
import { warmShim } from "../../runtimes/scripts/command-line.ts";
import { placeholdersOf } from "../../runtimes/scripts/arguments.ts";
import { Findings } from "../tool-folders/findings.ts";
import { CALL_LIMITS, readCallLimits, readEnvironment, readRunTables, RUN_TABLES } from "../tool-folders/run-tables.ts";
import { parseParameters } from "./parameters.ts";

/** A parsed and valid `tool.toml`. The script itself has not been checked. */
export interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly visibility: Visibility;
  /** Path of the script as written, relative to the manifest's folder. */
  readonly script?: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly environment: ScriptEnvironment;
  readonly limits: ToolLimits;
  /** The tool's own run settings. */
  readonly settings: PartialRunSettings;
  /** The definition for MCP callers: `{name, description, inputSchema, title?, annotations?}`. */
  readonly definition: JsonObject;
}

export interface ManifestRules {
  /** Name of the manifest's folder. */
  readonly folderName: string;
  /** If true, the folder's name replaces a missing `name`. */
  readonly allowDirnameAsName: boolean;
}

export interface ParsedManifest {
  /** Absent if a fault prevents the tool from being offered. */
  readonly manifest?: Manifest;
  /** Messages about faults that withhold the tool. */
  readonly faults: readonly string[];
  /** Messages about faults that do not withhold the tool. */
  readonly remarks: readonly string[];
  /** Name in the manifest, valid or not. */
  readonly name?: string;
}

const KEYS = [
  "name",
  "title",
  "description",
  "hint",
  "keywords",
  "script",
  "command",
  "args",
  "visibility",
  "parameters",
  "env",
  ...CALL_LIMITS,
  ...RUN_TABLES,
  "annotations",
];
const HINTS: Readonly<Record<string, string>> = {
  read_only_hint: "readOnlyHint",
  destructive_hint: "destructiveHint",
  idempotent_hint: "idempotentHint",
  open_world_hint: "openWorldHint",
};
const MAX_NAME_CHARS = 128;

/** Parses a manifest. Never throws: a fault is reported and withholds only this tool. */
export function parseManifest(text: string, rules: ManifestRules): ParsedManifest {
  let raw: JsonObject;
  try {
    raw = parse(text) as JsonObject;
  } catch (error) {
    return { faults: [syntaxProblem(error)], remarks: [] };
  }
  const findings = new Findings();
  findings.noteUnknownKeys(raw, KEYS);
  const manifest = readManifest(raw, rules, findings);
  const { faults, remarks } = findings;
  const { name } = manifest;
  return { ...(faults.length === 0 && { manifest }), ...(name !== "" && { name }), faults, remarks };
}

function syntaxProblem(error: unknown): string {
  const { line, column } = error as { line?: number; column?: number };
  const [first = ""] = messageOf(error).split("\n", 1);
  return (
    `the TOML cannot be read${line === undefined ? "" : ` (line ${line}, column ${column})`}: ` +
    `${first.replace(/^Invalid TOML document: /, "")}`
  );
}

function readManifest(raw: JsonObject, rules: ManifestRules, findings: Findings): Manifest {
  const name = readName(raw, rules, findings);
  const description = textOf(raw, "description", findings);
  if (description === undefined)
    findings.fault("`description` is missing; describe in one sentence what the tool does");
  const inputSchema = parseParameters(raw["parameters"], findings);
  const title = textOf(raw, "title", findings);
  const hint = textOf(raw, "hint", findings);
  const annotations = readAnnotations(raw["annotations"], findings);
  const command = readCommand(raw["command"], findings);
  const script = textOf(raw, "script", findings);
  if (script === undefined && !command)
    findings.fault('`script` is missing; name the file that runs, such as `script = "main.py"`');
  const args = readArguments(raw["args"], inputSchema, findings);
  const settings = readRunTables(raw, findings);
  if (settings.run?.mode === "warm") checkWarm(script, args, findings);
  return {
    name,
    description: description ?? "",
    keywords: findings.texts(raw["keywords"], "keywords"),
    visibility: readVisibility(raw["visibility"], findings),
    ...(script === undefined ? {} : { script }),
    ...(command ? { command } : {}),
    args,
    environment: readEnvironment(raw["env"], findings),
    limits: readCallLimits(raw, findings),
    settings,
    definition: {
      name,
      ...(title === undefined ? {} : { title }),
      description,
      inputSchema,
      ...(annotations ? { annotations } : {}),
      ...(hint === undefined ? {} : { _meta: { [HINT_META_KEY]: hint } }),
    },
  };
}

/**
 * Rejects `warm` for a script that cannot use it: a persistent interpreter has no command line per call, and the script
 * must be in a language that the hub's protocol supports.
 */
function checkWarm(script: string | undefined, args: readonly string[], findings: Findings): void {
  if (script === undefined || warmShim(script) === undefined)
    findings.fault(
      '`run.mode = "warm"` needs a `script` in Python, JavaScript or TypeScript (.py, .js, ' +
        ".mjs, .cjs, .ts, .mts, .cts)",
    );
  if (args.length > 0)
    findings.fault('`args` has no meaning with `run.mode = "warm"`: the script\'s function `run` gets the arguments');
}

function readName(raw: JsonObject, { folderName, allowDirnameAsName }: ManifestRules, findings: Findings): string {
  const name = textOf(raw, "name", findings) ?? (allowDirnameAsName ? folderName : undefined);
  if (name === undefined) {
    findings.fault(
      `\`name\` is missing; add \`name = ${JSON.stringify(folderName)}\`, or set \`allow_dirname_as_name = ` +
        "true` in [scripts]",
    );
    return "";
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (name.length > MAX_NAME_CHARS || /[\u0000-\u001f\u007f]/.test(name))
    findings.fault(`\`name\` must have at most ${MAX_NAME_CHARS} characters and no control characters`);
  return name;
}

/** Returns a text member. An empty text counts as missing. */
function textOf(raw: JsonObject, key: string, findings: Findings): string | undefined {
  const value = raw[key];
  if (value === undefined) return undefined;
  if (typeof value !== "string") findings.fault(`\`${key}\` must be a text, got ${JSON.stringify(value)}`);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function readVisibility(value: unknown, findings: Findings): Visibility {
  if (value === undefined || value === "native") return "native";
  if (value !== "ondemand")
    findings.fault(`\`visibility\` is ${JSON.stringify(value)}; accepted are "native" and "ondemand"`);
  return "ondemand";
}

function readCommand(value: unknown, findings: Findings): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const words = typeof value === "string" ? [value] : findings.texts(value, "command");
  if (words[0] === undefined || words[0].trim() === "") {
    findings.fault('`command` must name a program, such as `command = ["python3", "main.py"]`');
    return undefined;
  }
  if (typeof value === "string" && /\s/.test(value))
    findings.remark("`command` is one program, spaces included; write a list to give it arguments");
  return words;
}

function readArguments(value: unknown, inputSchema: JsonObject, findings: Findings): readonly string[] {
  const templates = findings.texts(value, "args");
  const known = Object.keys(inputSchema["properties"] as JsonObject);
  for (const name of templates.flatMap(placeholdersOf)) {
    if (!known.includes(name))
      findings.fault(`\`args\` names \`{${name}}\`, which is no parameter; write {{ and }} for braces`);
  }
  return templates;
}

function readAnnotations(value: unknown, findings: Findings): JsonObject | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) {
    findings.fault("`annotations` must be a table");
    return undefined;
  }
  findings.noteUnknownKeys(value, [...Object.keys(HINTS), ...Object.values(HINTS)], "annotations");
  const annotations: JsonObject = {};
  for (const [key, name] of Object.entries(HINTS)) {
    const hint = value[key] ?? value[name];
    if (typeof hint === "boolean") annotations[name] = hint;
    else if (hint !== undefined) findings.fault(`\`annotations.${key}\` must be true or false`);
  }
  return annotations;
}
