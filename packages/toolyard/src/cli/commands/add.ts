import { dirname, relative, resolve } from "node:path";
import { editConfigFile } from "../../config/edit/config-file.ts";
import {
  addPath,
  addServer as writeServer,
  hasPath,
  pathListsOf,
  serversOf,
  type NewServer,
} from "../../config/edit/sources.ts";
import { locateConfig } from "../../config/locate.ts";
import { readDocument } from "../../config/document.ts";
import { messageOf } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { searchEnvironment } from "../../process/environment.ts";
import { findCommand } from "../../process/resolve-command.ts";
import { fileToAddTo } from "../input/config-target.ts";
import { consent, writeAccepted } from "../input/consent.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { toolsAt } from "../hub-access/tools-at.ts";

interface Options extends SharedOptions {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly cwd?: string;
  readonly tokenEnv?: string;
  readonly ondemand?: boolean;
}

/** Result of `add`: the added server or tools, and the changed file. */
interface AddResult {
  readonly name: string;
  /** Kind of the server. For other tools, the name of the section that loads them. */
  readonly kind: string;
  readonly file: string;
}

export const run: CommandAction<Options> = async ([name = "", ...words], options, io) => {
  await consent(options, io);
  const file = fileToAddTo(options, io);
  const given: AddCommand = { name, file, options, io };
  const added = await writeAccepted(file, io, () => (words.length === 0 ? addTools(given) : addServer(given, words)));
  if (options.json) await printJson(io.stdout, added);
  else
    await print(
      io.stdout,
      `Added ${added.name} to ${added.file}. A hub that runs takes it up; \`toolyard check\` connects to it once.`,
    );
  return EXIT.ok;
};

/** Arguments and context of the command. */
interface AddCommand {
  /** Name of a server, or path of a file or folder with tools. */
  readonly name: string;
  readonly file: string;
  readonly options: Options;
  readonly io: Io;
}

async function addServer(given: AddCommand, words: readonly string[]): Promise<AddResult> {
  const { name, file, options } = given;
  await refuseTaken(given);
  const [first = ""] = words;
  const isUrl = words.length === 1 && isAddress(first);
  refuseOddOptions(options, isUrl);
  const missing = isUrl ? undefined : missingProgram(words, given);
  if (missing !== undefined && words.length === 1 && HOST.test(first))
    throw new UsageError(`An address begins with https:// or http://: toolyard add ${name} https://${first}`);
  const server: NewServer = isUrl
    ? { kind: "http", name, options: remoteOptions(name, first, options) }
    : { kind: "stdio", name, options: stdioOptions(words, options) };
  await editConfigFile(file, CONFIG_SCHEMA, (document) => writeServer(document, server, CONFIG_SCHEMA));
  if (missing !== undefined && !options.json) await print(given.io.stderr, `warning: ${missing}`);
  return { name, kind: server.kind, file };
}

function isAddress(word: string): boolean {
  const [, scheme] = /^([^\s/\\]*):\/\//.exec(word) ?? [];
  if (scheme === undefined) return false;
  if (!/^https?$/i.test(scheme))
    throw new UsageError(`"${word}" is no address of a server: it begins with ${scheme}://, not https:// or http://.`);
  if (!URL.canParse(word))
    throw new UsageError(`"${word}" is no address. It must look like https://mcp.example.com/mcp.`);
  return true;
}

/** Matches a host with a port or a path, such as `mcp.example.com/mcp` or `localhost:3000`. */
const HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d|\/)/i;

/** Returns why the program of a command cannot be started, or `undefined` if no reason is known yet. */
function missingProgram([first = ""]: readonly string[], { file, options, io }: AddCommand): string | undefined {
  const [program = ""] = first.trim().split(/\s+/);
  // Quotes and variables are only resolved when the configuration is read, so such a program is not checked.
  if (/["'$]/.test(program)) return undefined;
  try {
    findCommand(program, { cwd: resolve(dirname(file), options.cwd ?? "."), env: searchEnvironment(io.env) });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Throws if the name is in use. Checks all files in force, because the last file would silently override a name in the
 * others.
 */
async function refuseTaken({ name, file, options, io }: AddCommand): Promise<void> {
  if (name.trim() === "" || /[\p{Cc}/\\]/u.test(name))
    throw new UsageError(`"${name}" is no name for a server. Take letters, digits, - and _.`);
  const inForce = locateConfig(options.config ?? [], io.env, io.cwd);
  for (const one of inForce) {
    const { tree } = await readDocument(one);
    if (serversOf(tree, CONFIG_SCHEMA).some((server) => server.name === name))
      throw new UsageError(
        `The name "${name}" is taken by another server in ${one}. ` +
          `Choose another name, or \`toolyard remove ${name}\` first${one === file ? "" : " (with --config)"}.`,
      );
  }
}

function refuseOddOptions({ env, header, cwd, tokenEnv }: Options, isUrl: boolean): void {
  if (isUrl && (env !== undefined || cwd !== undefined))
    throw new UsageError(
      "--env and --cwd are for a server that is started here; one at an address takes --header and --token-env.",
    );
  if (!isUrl && (header !== undefined || tokenEnv !== undefined))
    throw new UsageError(
      "--header and --token-env are for a server at an address; one that is started here takes --env.",
    );
}

function stdioOptions(words: readonly string[], { env, cwd, ondemand }: Options): JsonObject {
  const [only = ""] = words;
  return {
    // A single word with blanks is a complete command line, and is split like in a shell.
    command: words.length === 1 && /\s/.test(only) ? only : words,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: pairs(env, "=", "--env KEY=VALUE") }),
    ...(ondemand ? { visibility: "ondemand" } : {}),
  };
}

function remoteOptions(name: string, url: string, { header, tokenEnv, ondemand }: Options): JsonObject {
  return {
    namespace: name,
    url,
    ...(tokenEnv === undefined ? {} : { token: `\${${tokenEnv}}` }),
    ...(header === undefined ? {} : { headers: pairs(header, ":", '--header "Name: value"') }),
    ...(ondemand ? { visibility: "ondemand" } : {}),
  };
}

function pairs(texts: readonly string[], separator: string, form: string): JsonObject {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      if (at < 1) throw new UsageError(`"${text}" is not of the form ${form}.`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trimStart()];
    }),
  );
}

/** Adds a file or a folder with tools. */
async function addTools({ name: given, file, options, io }: AddCommand): Promise<AddResult> {
  refuseOddOptions(options, true);
  if (options.header !== undefined || options.tokenEnv !== undefined || options.ondemand)
    throw new UsageError(
      `${given} is taken for a file or a folder, which has no such options. ` +
        "A server needs a name and a command or an address: toolyard add <name> -- <command>.",
    );
  const { kind, path } = await toolsAt(resolve(io.cwd, given), given);
  let section: string = kind;
  await editConfigFile(file, CONFIG_SCHEMA, async (document) => {
    const where = pathListsOf(document.tree, CONFIG_SCHEMA).find((list) => list.kind === kind)!;
    section = where.section;
    if (hasPath(document.tree, where, { folder: dirname(file), path }))
      throw new UsageError(`${path} is in [${section}] of ${file} already.`);
    return addPath(document, where, shortest(dirname(file), path));
  });
  return { name: given, kind: section, file };
}

/** Returns a relative path below the file's folder, so that both can be moved together. */
function shortest(folder: string, path: string): string {
  const inner = relative(folder, path);
  return inner === "" ? "." : inner.startsWith("..") || resolve(inner) === inner ? path : inner.replaceAll("\\", "/");
}
