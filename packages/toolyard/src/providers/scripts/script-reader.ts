import { closeSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, resolve } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { notOffered } from "../../core/sources/records.ts";
import { neededCommands, warmShim } from "../../runtimes/scripts/command-line.ts";
import { isInside } from "../../runtimes/scripts/inside.ts";
import type { Script } from "../../runtimes/scripts/run-script.ts";
import type { RunSettings } from "../../runtimes/scripts/run-settings.ts";
import { statsOf } from "../tool-folders/file-stamp.ts";
import { mergeRunSettings } from "../tool-folders/run-options.ts";
import type { BuildResult, ToolFileText, Folder, FolderReader } from "../tool-folders/node.ts";
import type { FolderContent, FolderTool } from "../tool-folders/provider.ts";
import { parseManifest, type Manifest } from "./manifest.ts";

const MANIFEST_NAME = "tool.toml";

export interface ScriptTool extends FolderTool {
  readonly script: Script;
}

export interface ScriptRules {
  readonly allowDirnameAsName: boolean;
  /** Defaults for tools that do not set them. */
  readonly settings: RunSettings;
}

/**
 * Creates a reader of folders with a file named exactly `tool.toml`. Folders inside such a folder belong to the tool.
 */
export function createScriptReader(rules: ScriptRules): FolderReader<FolderContent<ScriptTool>> {
  return {
    wants: (fileName) => fileName === MANIFEST_NAME,
    descends: (folder) => !folder.files.includes(MANIFEST_NAME),
    build(folder, texts) {
      const text = texts.get(MANIFEST_NAME);
      return text ? readScriptFolder(folder, text, rules) : { value: { tools: [], problems: [] } };
    },
  };
}

function readScriptFolder(
  folder: Folder,
  file: ToolFileText,
  { allowDirnameAsName, settings }: ScriptRules,
): BuildResult<FolderContent<ScriptTool>> {
  const subject = folder.place === "" ? MANIFEST_NAME : `${folder.place}/${MANIFEST_NAME}`;
  const folderName = basename(folder.path);
  if ("problem" in file) return { value: { tools: [], problems: [notOffered(subject, file.problem, [folderName])] } };
  const { manifest, name, faults, remarks } = parseManifest(file.text, { folderName, allowDirnameAsName });
  const names = name === undefined ? [folderName] : [name, folderName];
  const told = [
    ...faults.map((fault) => notOffered(subject, fault, names)),
    ...remarks.map((message) => ({ subject, message })),
  ];
  if (!manifest) return { value: { tools: [], problems: told } };
  const place = placeScript(manifest, folder);
  const alsoWatch = place.watch === undefined ? [] : [place.watch];
  if (place.problem !== undefined)
    return { value: { tools: [], problems: [...told, notOffered(subject, place.problem, names)] }, alsoWatch };
  return {
    value: {
      tools: [toTool(manifest, folder, { file: place.file, settings: runSettings(manifest, settings) })],
      problems: told,
    },
    alsoWatch,
  };
}

interface ScriptLocation {
  readonly file?: string;
  readonly problem?: string;
  /** Path of a file outside the tool's folder that must be watched. */
  readonly watch?: string;
}

/** Returns the script's location. It must be inside the tools folder, with symbolic links resolved (S7). */
function placeScript(manifest: Manifest, folder: Folder): ScriptLocation {
  const named = manifest.script ?? localCommand(manifest);
  if (named === undefined) return {};
  const key = manifest.script === undefined ? "command" : "script";
  if (isAbsolute(named)) return { problem: `\`${key}\` must be relative to the tool's folder, got an absolute path` };
  const file = resolve(folder.path, named);
  let real: string;
  try {
    real = realpathSync(file);
  } catch {
    return { watch: file, problem: `\`${key}\` names \`${named}\`, which is not there` };
  }
  const watch = dirname(real) === folder.path ? {} : { watch: file };
  if (!isInside(real, folder.realRoot))
    return { ...watch, problem: `\`${key}\` names \`${named}\`, which leads out of the tools folder` };
  if (!statsOf(real)?.isFile()) return { watch: file, problem: `\`${key}\` names \`${named}\`, which is not a file` };
  const denied = readProblem(real);
  if (denied !== undefined)
    return {
      watch: file,
      problem: `\`${key}\` names \`${named}\`, which cannot be read (${denied}). Check its rights`,
    };
  return { ...watch, file };
}

/**
 * Returns the tool's command if it is a relative path, such as `./run.sh`. Such a command must also be inside the tools
 * folder. For names on PATH and absolute paths, the operator is responsible.
 */
function localCommand({ command: [program] = [] }: Manifest): string | undefined {
  return program !== undefined && /[/\\]/.test(program) && !isAbsolute(program) ? program : undefined;
}

/**
 * Returns the tool's run settings. A default of `warm` applies only to scripts that support it. A manifest that sets
 * `warm` for another script was already rejected.
 */
function runSettings(manifest: Manifest, base: RunSettings): RunSettings {
  const settings = mergeRunSettings(base, manifest.settings);
  const canStay =
    manifest.script !== undefined && manifest.args.length === 0 && warmShim(manifest.script) !== undefined;
  return settings.run.mode === "warm" && !canStay ? { ...settings, run: { ...settings.run, mode: "spawn" } } : settings;
}

function toTool(
  manifest: Manifest,
  folder: Folder,
  { file, settings }: { readonly file: string | undefined; readonly settings: RunSettings },
): ScriptTool {
  const { name, description, keywords, visibility, limits, definition, command, args, environment } = manifest;
  const script: Script = {
    name,
    folder: folder.path,
    root: folder.realRoot,
    ...(manifest.script === undefined || file === undefined ? {} : { script: file }),
    ...(command ? { command } : {}),
    args,
    environment,
    settings,
  };
  // If a tool sets its own PATH, its program is searched there when it is called, so it is not checked here.
  const hasOwnPath = Object.hasOwn(environment.own, "PATH");
  const needs = hasOwnPath
    ? []
    : command
      ? [localCommand(manifest) === undefined ? command[0]! : file!]
      : neededCommands(file!, folder);
  const { required } = environment;
  const shown = { name, place: folder.place, description, keywords, visibility, limits, settings, definition };
  return { ...shown, script, needs, required };
}

function readProblem(file: string): string | undefined {
  try {
    closeSync(openSync(file, "r"));
    return undefined;
  } catch (error) {
    return codeOf(error) ?? "unknown reason";
  }
}
