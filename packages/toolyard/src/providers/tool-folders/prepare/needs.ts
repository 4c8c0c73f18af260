import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { contentDigest } from "../../../core/json/digest.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../../core/json/json.ts";
import { isStoreAlias } from "../../../process/interpreter.ts";
import { findCommand } from "../../../process/resolve-command.ts";
import { isOrdinaryPython } from "../../../runtimes/scripts/command-line.ts";
import { readInlineMetadata, type InlineMetadata } from "../../../runtimes/scripts/inline-metadata.ts";
import { isInside } from "../../../runtimes/scripts/inside.ts";
import type { ScriptCode } from "../../../runtimes/scripts/script-host.ts";
import { venvPython } from "../../../runtimes/scripts/venv.ts";
import type { InstallCommand } from "../../installs.ts";

/** The properties of a tool on which its requirements depend. */
export interface ToolRequirements extends ScriptCode {
  /** The tools folder with symbolic links resolved. */
  readonly root: string;
}

export const KINDS_OF_NEED = ["header", "requirements.txt", "package.json"] as const;

/** The packages that one file requires. */
export interface Need {
  readonly kind: (typeof KINDS_OF_NEED)[number];
  readonly file: string;
  /** Digest of everything that decides what is installed, and where. */
  readonly key: string;
  readonly target: string;
  /** Path that exists once the packages are installed. */
  readonly mark: string;
  readonly tools: readonly string[];
  readonly commands: readonly InstallCommand[];
  /**
   * Present if the file names places from which packages are fetched. A user must then agree, because a model may have
   * written the file, with any address.
   */
  readonly asksFirst?: true;
  /** Reason why no command can install the packages. */
  readonly problem?: string;
  /** Present if the file is invalid. The tool can then not be run at all. */
  readonly isBroken?: true;
}

/** Settings for installs. */
export interface InstallPlace {
  /** Folder of the environments for script headers. */
  readonly environments: string;
  readonly env: Readonly<Record<string, string>>;
  /** True if packages may be built, which runs their code. Otherwise only prebuilt packages are used. */
  readonly mayBuild: boolean;
}

/** Returns the requirements in a script's header; `undefined` if there is a `.venv` next to the script. */
export function headerNeed(code: ScriptCode, place: InstallPlace): Need | undefined {
  const { name, file, folder, settings } = code;
  if (settings.isolation.mode !== "process" || !isOrdinaryPython(file)) return undefined;
  if (existsSync(venvPython(join(folder, ".venv")))) return undefined;
  const metadata = readInlineMetadata(file);
  if (!metadata || asksForNothing(metadata)) return undefined;
  const { text, hasToolTable, namesPlaces, problem } = metadata;
  const real = realpathSync(file);
  // The table `tool` may refer to files next to the script, so the path of their folder is part of the key.
  const key = keyOf("header", text, readText(`${real}.lock`) ?? "", hasToolTable ? dirname(real) : "");
  const target = join(place.environments, key);
  const base = {
    kind: "header" as const,
    file,
    key,
    target,
    mark: venvPython(target),
    tools: [name],
    ...(namesPlaces && { asksFirst: namesPlaces }),
  };
  if (problem === undefined) return { ...base, ...headerCommands(real, target, place) };
  return {
    ...base,
    commands: [],
    isBroken: true,
    problem: `The header of ${basename(file)} cannot be used: ${problem}.`,
  };
}

function asksForNothing({ dependencies, requiresPython, problem }: InlineMetadata): boolean {
  return dependencies.length === 0 && requiresPython === undefined && problem === undefined;
}

function headerCommands(script: string, target: string, place: InstallPlace): Pick<Need, "commands" | "problem"> {
  const uv = commandAt("uv", place);
  if (uv === undefined) return { commands: [], problem: NO_UV };
  const flags = ["--no-progress", ...(place.mayBuild ? [] : ["--no-build"])];
  const env = { ...place.env, VIRTUAL_ENV: target };
  const args = ["sync", ...flags, "--active", "--script", script];
  // The script's folder is not the working folder, because uv would read `uv.toml` and `.python-version` there, to
  // which no user has agreed.
  return { commands: [{ command: uv, args, env, cwd: place.environments }] };
}

const NO_UV =
  "`uv`, which installs the packages in headers of scripts, is not on this machine (`pip install " +
  "uv`). Alternatively, install the packages into a `.venv` next to the script.";

/** Returns the requirements in files next to tools, or in parent folders up to the tools folder. */
export function fileNeeds(tools: readonly ToolRequirements[], place: InstallPlace): readonly Need[] {
  const askers = new Map<string, string[]>();
  for (const tool of tools) {
    if (tool.settings.isolation.mode !== "process") continue;
    for (const file of filesFor(tool)) askers.set(file, [...(askers.get(file) ?? []), tool.name]);
  }
  return Array.from(askers).flatMap(([file, names]) => {
    const need = basename(file) === "package.json" ? packageNeed(file, place) : requirementsNeed(file, place);
    return need ? [{ ...need, tools: names }] : [];
  });
}

const NODE_FILE = /\.[cm]?[jt]s$/i;

/** Returns the nearest requirement file for the tool's language. */
function filesFor({ file, folder, root }: ToolRequirements): readonly string[] {
  const wanted = NODE_FILE.test(file) ? "package.json" : isOrdinaryPython(file) ? "requirements.txt" : undefined;
  if (wanted === undefined) return [];
  for (let at = realpathSync(folder); at === root || isInside(at, root); at = dirname(at)) {
    if (existsSync(join(at, wanted))) return [join(at, wanted)];
    if (at === root) return [];
  }
  return [];
}

function requirementsNeed(file: string, place: InstallPlace): Omit<Need, "tools"> | undefined {
  const text = readText(file);
  if (text === undefined || !/^[^\S\n\r\u2028\u2029]*[^\s#]/m.test(text)) return undefined;
  const [cwd, target] = [dirname(file), join(dirname(file), ".venv")];
  const python = venvPython(target);
  const base = {
    kind: "requirements.txt" as const,
    file,
    key: keyOf("requirements", file, text),
    target,
    mark: python,
    ...(PLACE_OF_PYTHON.test(text) && { asksFirst: true as const }),
  };
  const step = (command: string, ...args: readonly string[]): InstallCommand => ({
    command,
    args,
    env: place.env,
    cwd,
  });
  const uv = commandAt("uv", place);
  if (uv !== undefined) {
    const install = step(uv, "pip", "install", "--no-progress", "--python", python, "-r", file);
    return { ...base, commands: [step(uv, "venv", "--allow-existing", target), install] };
  }
  const found = ["python3", "python"].flatMap((name) => commandAt(name, place) ?? []);
  const interpreter = found.find((path) => !isStoreAlias(path)) ?? found[0];
  if (interpreter === undefined)
    return { ...base, commands: [], problem: "Neither `uv` nor Python is on this machine; install one." };
  const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-r", file];
  return { ...base, commands: [step(interpreter, "-m", "venv", target), step(python, ...pip)] };
}

/** Matches a line with more than a name and its versions: an option, an address or a folder. */
const PLACE_OF_PYTHON = /^(?:[ \t]*-|[^#\n\r\u2028\u2029]*[@/\\])/m;

function packageNeed(file: string, place: InstallPlace): Omit<Need, "tools"> | undefined {
  const text = readText(file) ?? "";
  const wanted = objectIn(text);
  // For a package.json without dependencies, there is nothing to install. Invalid JSON is passed to npm, which reports
  // the fault.
  if (wanted && Object.keys(objectMember(wanted, "dependencies") ?? {}).length === 0) return undefined;
  const cwd = dirname(file);
  const target = join(cwd, "node_modules");
  const lock = readText(join(cwd, "package-lock.json"));
  const key = keyOf("package", file, text, lock ?? "");
  const base = {
    kind: "package.json" as const,
    file,
    key,
    target,
    mark: target,
    ...(leadsElsewhere(cwd, wanted, lock) && { asksFirst: true as const }),
  };
  const npm = commandAt("npm", place);
  if (npm === undefined)
    return { ...base, commands: [], problem: "`npm` is not on this machine; it comes with Node.js." };
  const flags = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"];
  const args = [lock === undefined ? "install" : "ci", ...flags, ...(lock === undefined ? ["--no-package-lock"] : [])];
  return { ...base, commands: [{ command: npm, args, env: place.env, cwd }] };
}

/** Files next to a package.json that may also make npm install from other places than the npm registry. */
const FURTHER_FILES = [".npmrc", "npm-shrinkwrap.json"];
/** Members of a package.json that make npm install packages. */
const ASKING_MEMBERS = ["dependencies", "optionalDependencies", "peerDependencies", "overrides"];
const NPM_REGISTRY = "https://registry.npmjs.org/";

function leadsElsewhere(cwd: string, wanted: JsonObject | undefined, lock = ""): boolean {
  return (
    FURTHER_FILES.some((name) => existsSync(join(cwd, name))) ||
    ASKING_MEMBERS.some((name) => textsIn(wanted?.[name]).some(isPlaceOfNode)) ||
    resolvedIn(objectIn(lock)).some((address) => !address.startsWith(NPM_REGISTRY))
  );
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return undefined;
  }
}

/** Returns all texts of a value, at any depth. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** Returns the addresses of packages in a lock file. */
function resolvedIn(value: unknown): readonly string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "resolved" && typeof inner === "string" ? [inner] : resolvedIn(inner),
  );
}

/**
 * Returns whether a version is a repository, an address or a file. Versions, tags and other names contain none of these
 * characters.
 */
function isPlaceOfNode(wanted: string): boolean {
  return /[:/\\]/.test(wanted) && !wanted.startsWith("npm:");
}

function keyOf(...parts: readonly string[]): string {
  return contentDigest(JSON.stringify(parts));
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function commandAt(name: string, { env }: InstallPlace): string | undefined {
  try {
    return findCommand(name, { env });
  } catch {
    return undefined;
  }
}
