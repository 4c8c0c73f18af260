import { parseExact } from "../../core/json/exact-json.ts";
import { basename, extname, join } from "node:path";
import { realpathSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { Visibility } from "../../core/sources/listing-shape.ts";
import { notOffered, type ProblemDetails, type ToolLimits } from "../../core/sources/records.ts";
import { EXECUTE_SUFFIXES, type ExecuteTool } from "../../runtimes/execute/run-execute.ts";
import { isInside } from "../../runtimes/scripts/inside.ts";
import { neededCommands } from "../../runtimes/scripts/command-line.ts";
import type { ScriptEnvironment } from "../../runtimes/scripts/run-script.ts";
import type { PartialRunSettings, RunSettings } from "../../runtimes/scripts/run-settings.ts";
import { normaliseInputSchema } from "../../schema/normalise.ts";
import { statsOf } from "../tool-folders/file-stamp.ts";
import { Findings } from "../tool-folders/findings.ts";
import { CALL_LIMITS, readCallLimits, readEnvironment, readRunTables, RUN_TABLES } from "../tool-folders/run-tables.ts";
import { mergeRunSettings } from "../tool-folders/run-options.ts";
import type { ToolFileText, Folder, FolderReader } from "../tool-folders/node.ts";
import type { FolderContent, FolderTool } from "../tool-folders/provider.ts";

const METADATA_SUFFIX = ".mcp.json";

export interface ExecuteFolderTool extends FolderTool {
  readonly execute: ExecuteTool;
  /** Changes whenever the state of the script changes. */
  readonly version: string;
}

/** Defaults for tools that do not set them. */
export interface ExecuteRules {
  readonly visibility: Visibility;
  readonly settings: RunSettings;
}

/** State while one folder is read. */
interface FolderScan {
  readonly folder: Folder;
  readonly texts: ReadonlyMap<string, ToolFileText>;
  readonly rules: ExecuteRules;
  readonly problems: ProblemDetails[];
  readonly alsoWatch: string[];
}

/** Creates a reader of the tools folder and its direct subfolders, with one tool each. */
export function createExecuteReader(rules: ExecuteRules): FolderReader<FolderContent<ExecuteFolderTool>> {
  return {
    wants: (fileName) => fileName.endsWith(METADATA_SUFFIX) && fileName.length > METADATA_SUFFIX.length,
    descends: (folder) => folder.depth === 0,
    build(folder, texts) {
      const gathering: FolderScan = { folder, texts, rules, problems: [], alsoWatch: [] };
      const stems = folder.depth === 0 ? Array.from(texts.keys(), stemOf) : ownStem(gathering);
      const tools = stems.flatMap((stem) => readTool(stem, gathering) ?? []);
      return { value: { tools, problems: gathering.problems }, alsoWatch: gathering.alsoWatch };
    },
  };
}

function stemOf(fileName: string): string {
  return fileName.slice(0, -METADATA_SUFFIX.length);
}

/**
 * Returns the stem of the tool's files. In a tool's own folder, both files have the folder's name, which is the tool's
 * name.
 */
function ownStem({ folder, texts, problems }: FolderScan): string[] {
  const own = sameText(basename(folder.path));
  const stem = Array.from(texts.keys(), stemOf).find(own) ?? basename(folder.path);
  if (texts.has(stem + METADATA_SUFFIX)) return [stem];
  const [other] = texts.keys();
  if (other !== undefined) {
    const reason =
      `the folder holds \`${other}\`, but its tool's files must be called ` +
      `\`${stem}${METADATA_SUFFIX}\` and \`${stem}.py\` (or .ts, .js, .mjs)`;
    problems.push(notOffered(folder.place, reason, [stem, stemOf(other)]));
  } else if (scriptOf(stem, folder) !== undefined) {
    problems.push(notOffered(folder.place, `\`${stem}${METADATA_SUFFIX}\` is missing next to the script`, [stem]));
  }
  return [];
}

function scriptOf(stem: string, folder: Folder): string | undefined {
  return Object.keys(EXECUTE_SUFFIXES)
    .map((suffix) => folder.files.find(sameText(stem + suffix)))
    .find((name) => name !== undefined);
}

/** Compares names as a user does: file systems store a letter with an accent as one or two code points. */
function sameText(name: string): (other: string) => boolean {
  const normal = name.normalize("NFC");
  return (other) => other === name || other.normalize("NFC") === normal;
}

function readTool(stem: string, gathering: FolderScan): ExecuteFolderTool | undefined {
  const { folder, texts, rules, problems } = gathering;
  const subject = folder.place === "" ? stem + METADATA_SUFFIX : `${folder.place}/${stem}${METADATA_SUFFIX}`;
  const refuse = (reason: string) => {
    problems.push(notOffered(subject, reason, [stem]));
    return undefined;
  };
  const script = scriptOf(stem, folder);
  if (script === undefined) return refuse(`\`${stem}.py\` (or .ts, .js, .mjs) is missing next to it`);
  const file = join(folder.path, script);
  const scriptProblem = problemWithFile(file, gathering);
  if (scriptProblem !== undefined) return refuse(`\`${script}\` ${scriptProblem}`);
  const metadata = parseMetadata(texts.get(stem + METADATA_SUFFIX)!, stem);
  if ("problem" in metadata) return refuse(metadata.problem);
  for (const message of metadata.remarks) problems.push({ subject, message });
  const { visibility = rules.visibility, limits, environment } = metadata;
  const settings = mergeRunSettings(rules.settings, metadata.settings);
  return {
    name: stem,
    visibility,
    limits,
    settings,
    place: folder.place === "" ? script : `${folder.place}/${script}`,
    description: metadata.description,
    keywords: metadata.keywords,
    definition: metadata.definition,
    version: versionOf(file),
    execute: { name: stem, file, folder: folder.path, root: folder.realRoot, environment, settings },
    needs: extname(file) === ".py" ? neededCommands(`tool${extname(file)}`) : [],
    required: environment.required,
  };
}

/**
 * Returns why a tool's script cannot be run; undefined if it can. The script is watched too, because a change of the
 * script may decide whether the tool is offered.
 */
function problemWithFile(file: string, { folder, alsoWatch }: FolderScan): string | undefined {
  const real = realPathOf(file);
  alsoWatch.push(file);
  if (real === undefined || !statsOf(real)?.isFile()) return "is not a file that can be read";
  return isInside(real, folder.realRoot) ? undefined : "leads out of the tools folder";
}

function versionOf(file: string): string {
  const stats = statsOf(file);
  return stats ? `${stats.mtimeMs} ${stats.size} ${stats.ino}` : "";
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

interface Metadata {
  readonly description: string;
  readonly keywords: readonly string[];
  readonly definition: JsonObject;
  readonly visibility?: Visibility;
  readonly limits: ToolLimits;
  readonly settings: PartialRunSettings;
  readonly environment: ScriptEnvironment;
  readonly remarks: readonly string[];
}

/** Members that configure how the tool is run. Clients do not see them. */
const RUN_MEMBERS = ["env", "visibility", ...CALL_LIMITS, ...RUN_TABLES];

/**
 * Parses `{name, description, input_schema, output_schema?}`. MCP's spelling of the keys is accepted too, and further
 * members are kept.
 */
function parseMetadata(file: ToolFileText, stem: string): Metadata | { readonly problem: string } {
  if ("problem" in file) return { problem: file.problem };
  let raw: unknown;
  try {
    raw = parseExact(file.text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { problem: `the JSON cannot be read: ${messageOf(error)}` };
  }
  if (!isJsonObject(raw))
    return { problem: "the JSON must be an object with `name`, `description` and `input_schema`" };
  const definition = toDefinition(raw, stem);
  if (typeof definition === "string") return { problem: definition };
  const findings = new Findings();
  const run = readRun(raw, findings);
  if (findings.faults.length > 0) return { problem: findings.faults.join("; ") };
  const { schema, warning } = normaliseInputSchema(definition["inputSchema"] as JsonObject);
  const remarks = [...(warning === undefined ? [] : [warning]), ...findings.remarks];
  if (raw["name"] !== stem)
    remarks.push(
      `its \`name\` is ${JSON.stringify(raw["name"])}, but the file's name is used: the tool is \`${stem}\``,
    );
  const keywords = Array.isArray(raw["keywords"]) ? raw["keywords"].filter((word) => typeof word === "string") : [];
  return {
    description: String(definition["description"]),
    keywords,
    definition: { ...definition, inputSchema: schema },
    ...run,
    remarks,
  };
}

/** Returns the definition for clients, or a message about the fault. */
function toDefinition(raw: JsonObject, stem: string): JsonObject | string {
  const {
    name,
    description,
    input_schema,
    inputSchema = input_schema,
    output_schema,
    outputSchema = output_schema,
    keywords: _,
    ...rest
  } = raw;
  if (typeof name !== "string" || name === "") return `\`name\` is missing; add "name": ${JSON.stringify(stem)}`;
  if (typeof description !== "string" || description.trim() === "")
    return "`description` is missing; describe in one sentence what the tool does";
  if (!isJsonObject(inputSchema))
    return '`input_schema` is missing or no object; for a tool without parameters write {"type": "object"}';
  if (outputSchema !== undefined && !isJsonObject(outputSchema)) return "`output_schema` must be an object";
  const others = Object.fromEntries(Object.entries(rest).filter(([key]) => !RUN_MEMBERS.includes(key)));
  return { ...others, name: stem, description, inputSchema, ...(outputSchema ? { outputSchema } : {}) };
}

function readRun(
  raw: JsonObject,
  findings: Findings,
): Pick<Metadata, "visibility" | "limits" | "settings" | "environment"> {
  const { visibility } = raw;
  const isKnown = visibility === "native" || visibility === "ondemand";
  if (visibility !== undefined && !isKnown)
    findings.fault(`\`visibility\` is ${JSON.stringify(visibility)}; accepted are "native" and "ondemand"`);
  return {
    ...(isKnown ? { visibility } : {}),
    limits: readCallLimits(raw, findings),
    settings: readRunTables(raw, findings),
    environment: readEnvironment(raw["env"], findings),
  };
}
