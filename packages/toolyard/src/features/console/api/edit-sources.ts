import { editConfigFile } from "../../../config/edit/config-file.ts";
import { keepAccepted, type Acceptance } from "../../../config/edit/keep-accepted.ts";
import { addServer, serversOf, type NewServer } from "../../../config/edit/sources.ts";
import { ConfigError, messageOf } from "../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import type { HubControl } from "../../../core/ports/hub-control.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ActionResult } from "../api-types.ts";
import { openFiles, placesOf, type SourcePlaceInFile } from "./source-files.ts";

/** A change of a file that the running hub has not applied yet. */
export interface FileChange {
  readonly file: string;
  readonly message: string;
}

/** Applies a changed file to the running hub. If the hub cannot reload, the change is only in the file. */
export async function applyChange(control: HubControl, { file, message }: FileChange): Promise<ActionResult> {
  try {
    await control.reload();
    return { done: true, file, message };
  } catch (error) {
    return { done: true, file, message: `${message} The running hub has not applied it: ${messageOf(error)}` };
  }
}

/**
 * Hub with the files that are edited, and the record of accepted files. Each change is recorded as accepted, so that
 * the hub does not refuse the file at its next start.
 */
export interface SourceEditor {
  readonly control: HubControl;
  readonly acceptance: Acceptance;
}

/** Sets `enabled` of a server, as `toolyard enable` and `toolyard disable` do. */
export async function toggleSource(
  { control, acceptance }: SourceEditor,
  { id, enabled }: { readonly id: string; readonly enabled: boolean },
): Promise<FileChange> {
  const { file } = await editablePlace(control, id);
  const { schema } = control;
  await editFile(file, acceptance, () =>
    editConfigFile(file, schema, async (document) => {
      const server = serversOf(document.tree, schema).find(({ name }) => name === id);
      if (!server || (server.options["enabled"] !== false) === enabled) return document;
      const bare = enabled ? await document.unset(server.path, "enabled") : undefined;
      return bare ?? document.set(server.path, "enabled", enabled);
    }),
  );
  return { file, message: `${id} is ${enabled ? "enabled" : "disabled"} in ${file}.` };
}

/** Sets the digest of a tool in `pins` of its server. */
export async function pinTool(
  { control, acceptance }: SourceEditor,
  { id, tool, digest }: { readonly id: string; readonly tool: string; readonly digest: string },
): Promise<FileChange> {
  const { file } = await editablePlace(control, id);
  const { schema } = control;
  await editFile(file, acceptance, () =>
    editConfigFile(file, schema, async (document) => {
      const server = serversOf(document.tree, schema).find(({ name }) => name === id);
      return server ? document.set([...server.path, "pins"], tool, digest) : document;
    }),
  );
  return { file, message: `The definition of ${tool} is approved in ${file}.` };
}

/** Removes a server from its file, as `toolyard remove` does. */
export async function removeSource({ control, acceptance }: SourceEditor, id: string): Promise<FileChange> {
  const { file } = await editablePlace(control, id);
  const { schema } = control;
  await editFile(file, acceptance, () =>
    editConfigFile(file, schema, async (document) => {
      const server = serversOf(document.tree, schema).find(({ name }) => name === id);
      return server ? document.remove(server.path) : document;
    }),
  );
  return { file, message: `${id} was removed from ${file}.` };
}

/** Adds a server to the file with the highest precedence, as `toolyard add` does. */
export async function addSource({ control, acceptance }: SourceEditor, body: JsonObject): Promise<FileChange> {
  const server = readServer(body);
  const { schema } = control;
  if ((await placesOf(control)).has(server.name))
    throw new Refusal(409, `The name ${JSON.stringify(server.name)} is taken by another server. Choose another name.`);
  const [first] = await openFiles(control);
  const file = first?.path;
  if (file === undefined)
    throw new Refusal(409, "This hub has no configuration file. `toolyard init` writes one, `--config` names one.");
  if (!first?.document || first.reason !== undefined) throw new Refusal(409, first?.reason ?? "");
  await editFile(file, acceptance, () =>
    editConfigFile(file, schema, (document) => addServer(document, server, schema)),
  );
  return { file, message: `${server.name} was added to ${file}.` };
}

/** Returns the entry of a source in a file that can be changed. Throws a `Refusal`. */
export async function editablePlace(control: HubControl, id: string): Promise<SourcePlaceInFile> {
  const place = (await placesOf(control)).get(id);
  if (!place) throw new Refusal(409, `${id} is not a server of a configuration file, so it cannot be changed here.`);
  if (!place.isEditable) throw new Refusal(409, place.reason ?? `${place.file} cannot be changed.`);
  return place;
}

/** Runs a change of a file. If the result violates the schema, the caller gets an error. */
export async function editFile<T>(file: string, acceptance: Acceptance, work: () => Promise<T>): Promise<T> {
  try {
    return await keepAccepted(file, acceptance, work);
  } catch (error) {
    if (error instanceof ConfigError) throw new Refusal(422, messageOf(error));
    throw error;
  }
}

const BAD_NAME = /[\p{Cc}/\\]/u;

function readServer(body: JsonObject): NewServer {
  const { name, command, url } = body;
  if (typeof name !== "string" || name.trim() === "" || BAD_NAME.test(name))
    throw new Refusal(422, "`name` must be a text of letters, digits, `-` and `_`.");
  if ((command === undefined) === (url === undefined))
    throw new Refusal(422, "A server needs either `command` or `url`.");
  return url === undefined
    ? { kind: "stdio", name, options: programOptions(body) }
    : { kind: "http", name, options: remoteOptions(name, body) };
}

function remoteOptions(namespace: string, { url, tokenEnv, headers }: JsonObject): JsonObject {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new Refusal(422, "`url` must be an address that begins with https:// or http://.");
  const table = textTable(headers, "headers");
  return {
    namespace,
    url,
    ...(isText(tokenEnv) && { token: `\${${tokenEnv}}` }),
    ...(table && { headers: table }),
  };
}

function programOptions({ command, cwd, env }: JsonObject): JsonObject {
  const words = Array.isArray(command) ? command.filter(isText) : [];
  const [only] = words;
  if (only === undefined || only.trim() === "")
    throw new Refusal(422, "`command` must be a list: the program and its arguments.");
  const table = textTable(env, "env");
  return {
    command: words.length === 1 && /\s/.test(only) ? only : words,
    ...(isText(cwd) && { cwd }),
    ...(table && { env: table }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function textTable(value: unknown, name: string): Record<string, string> | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) throw new Refusal(422, `\`${name}\` must be an object of texts.`);
  const entries = Object.entries(value).map(([key, text]) => [key, String(text)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
