import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { editConfigFile, readConfigFile } from "../../config/edit/config-file.ts";
import {
  addPath,
  addServer,
  hasPath,
  pathListsOf,
  pathsOf,
  serversOf,
  type PathList,
} from "../../config/edit/sources.ts";
import type { TomlDocument } from "../../config/edit/toml-document.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { fileToAddTo } from "../input/config-target.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { EXIT, onFile, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import { NEW_PLACES, NEW_TOOLS, TOOL_KINDS, type ToolKind } from "../new-tool/kinds.ts";
import { SAMPLE } from "../new-tool/script-files.ts";

type Options = SharedOptions & Readonly<Partial<Record<ToolKind, boolean>>>;

export const run: CommandAction<Options> = async ([name = ""], options, io) => {
  if (!/^[a-z][\w-]*$/i.test(name))
    throw new UsageError(`"${name}" is no name for a tool. Begin with a letter; letters, digits, - and _ may follow.`);
  const kind = kindOf(options);
  const file = fileToAddTo(options, io);
  const document = await readConfigFile(file);
  const place = placeOf(kind, document.tree);
  if (kind === "service" && serversOf(document.tree, CONFIG_SCHEMA).some((server) => server.name === name))
    throw new UsageError(`The name "${name}" is taken by another server in ${file}. Choose another name.`);
  const folder = resolve(dirname(file), place.parent, name);
  if (existsSync(folder)) throw new UsageError(`${folder} is there already. Choose another name, or remove it first.`);
  const made = NEW_TOOLS[kind](name);
  await writeTool(folder, made.files);
  await editConfigFile(file, CONFIG_SCHEMA, (current) => include(current, { name, file, place }));
  const shown = shownFrom(io, folder);
  const inFolder = (path: string): string => shellWord(path.replace("{folder}", () => shown));
  const lines = {
    run: `toolyard call${configWords(options)} ${made.tool} text="${SAMPLE}"`,
    test: made.test.replace(/\{folder\}\S*/, inFolder),
  };
  if (options.json)
    await printJson(io.stdout, {
      tool: made.tool,
      kind,
      folder,
      files: Object.keys(made.files),
      config: file,
      ...lines,
    });
  else
    await print(
      io.stdout,
      [
        `Wrote ${shown}: ${Object.keys(made.files).join(", ")}. It is in ${file}.`,
        `Run it:  ${lines.run}`,
        `Test it: ${lines.test}`,
      ].join("\n"),
    );
  return EXIT.ok;
};

/**
 * Returns this command's `--config` options, for commands that it suggests: in the user's folder another file may be in
 * force.
 */
function configWords({ config = [] }: Options): string {
  return config.map((file) => ` --config ${shellWord(file)}`).join("");
}

function kindOf(options: Options): ToolKind {
  const [kind = "node", ...others] = TOOL_KINDS.filter((one) => options[one]);
  if (others.length === 0) return kind;
  throw new UsageError(
    `A tool is of one kind, and ${[kind, ...others].map((one) => `--${one}`).join(", ")} are given. Leave one.`,
  );
}

/** Folder for tools of one kind, relative to the configuration's folder, and the option that lists it. */
interface TemplateLocation {
  readonly parent: string;
  /** Option that lists the folder. Absent for a server with a command. */
  readonly list?: PathList;
}

function placeOf(kind: ToolKind, tree: JsonObject): TemplateLocation {
  const { source, folder: usual } = NEW_PLACES[kind];
  const list = pathListsOf(tree, CONFIG_SCHEMA).find((one) => one.kind === source);
  if (!list) return { parent: usual };
  // The list may contain paths of single module files, which are not folders for new tools.
  const parent = pathsOf(tree, list).find((path) => !/\.(?:m?[jt]s|py)$/.test(path));
  return { parent: parent ?? usual, list };
}

async function writeTool(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const write = async (): Promise<void> => {
    try {
      await mkdir(folder, { recursive: true });
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    } catch (error) {
      // An incomplete tool is removed, because it would block the next attempt.
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  };
  await onFile(folder, write, "Check the write permissions of the folder.");
}

interface Inclusion {
  readonly name: string;
  readonly file: string;
  readonly place: TemplateLocation;
}

async function include(document: TomlDocument, { name, file, place }: Inclusion): Promise<TomlDocument> {
  const { parent, list } = place;
  if (!list) {
    const options = { command: ["node", `${parent}/${name}/main.mjs`] };
    return addServer(document, { kind: NEW_PLACES.service.source, name, options }, CONFIG_SCHEMA);
  }
  return hasPath(document.tree, list, { folder: dirname(file), path: parent })
    ? document
    : addPath(document, list, parent);
}

function shownFrom(io: Io, folder: string): string {
  const path = relative(io.cwd, folder);
  return path.startsWith("..") ? folder : path.replaceAll("\\", "/");
}
