import { join } from "node:path";
import { applyValue } from "../../../config/edit/apply-value.ts";
import { TomlDocument } from "../../../config/edit/toml-document.ts";
import { publishedSchema } from "../../../config/json-schema.ts";
import { dataFolder } from "../../../core/data-folder.ts";
import { ConfigError, messageOf } from "../../../core/errors.ts";
import { listMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { AdminRequest, AdminRoute } from "../api/route.ts";
import { sourceEditor } from "../api/source-editor.ts";
import type { OpenedFile } from "../api/source-files.ts";
import type { ConsoleParts, HubParts } from "../parts.ts";
import { FileHistory } from "./file-history.ts";
import { SettingsFiles } from "./settings-files.ts";
import type { SettingsFile, SettingsInfo } from "./settings-types.ts";

/** Creates the editor of configuration files. */
export function settingsOf(parts: HubParts): SettingsFiles {
  return new SettingsFiles({
    ...sourceEditor(parts),
    history: new FileHistory(join(dataFolder(parts.variables), "console", "history")),
    redactFacts: parts.redactFacts,
  });
}

/** Returns the routes that show, check and save configuration files. */
export function settingsRoutes(parts: ConsoleParts, settings: SettingsFiles): readonly AdminRoute[] {
  return [...readingRoutes(parts, settings), ...draftRoutes(settings), ...savingRoutes(settings)];
}

function readingRoutes(parts: ConsoleParts, settings: SettingsFiles): readonly AdminRoute[] {
  return [
    {
      method: "GET",
      path: "settings",
      needs: "admin",
      summary: "The configuration files, without their secrets.",
      handle: () => settingsInfo(parts, settings),
    },
    {
      method: "GET",
      path: "settings/schema",
      needs: "all",
      summary: "The JSON Schema of the configuration.",
      handle: () => publishedSchema(parts.hubControl().schema),
    },
    {
      method: "GET",
      path: "settings/versions/*",
      needs: "admin",
      summary: "An earlier version of `file`, without its secrets.",
      handle: async ({ query, names: [id = ""] }) => readVersion(settings, query.get("file") ?? "", id),
    },
  ];
}

function draftRoutes(settings: SettingsFiles): readonly AdminRoute[] {
  return [
    {
      method: "POST",
      path: "settings/check",
      needs: "admin",
      summary: "Checks the `text` of a `file`, and returns what a save would restart.",
      handle: async ({ exchange }) => {
        const { file, text } = readDraft(await exchange.readObject("`file` and `text`"));
        return settings.check(file, text);
      },
    },
    {
      method: "POST",
      path: "settings/edit",
      needs: "admin",
      summary: "Changes the `value` at a `path` of a `text`, and keeps comments and layout.",
      handle: async ({ exchange }) => {
        const body = await exchange.readObject("`file`, `text`, `path` and `value`");
        const { file, text } = readDraft(body);
        const path = listMember(body, "path").map(String);
        if (path.length === 0) throw new Refusal(422, '`path` must be a list of keys, such as ["server", "port"].');
        return { text: await editedText(file, text, (document) => applyValue(document, path, body["value"])) };
      },
    },
  ];
}

function savingRoutes(settings: SettingsFiles): readonly AdminRoute[] {
  const by = ({ caller }: AdminRequest): string => caller.principal.id;
  return [
    {
      method: "PUT",
      path: "settings",
      needs: "change",
      action: "save settings",
      summary: "Saves the `text` of a `file` that still has the `digest`, and applies it.",
      handle: async (request) => {
        const body = await request.exchange.readObject("`file`, `text` and `digest`");
        return settings.save({ ...readDraft(body), digest: stringMember(body, "digest") ?? "" }, by(request));
      },
    },
    {
      method: "POST",
      path: "settings/undo",
      needs: "change",
      action: "undo settings",
      summary: "Restores the newest kept version of a `file` that still has the `digest`.",
      handle: async (request) => {
        const body = await request.exchange.readObject("`file` and `digest`");
        return settings.undo(stringMember(body, "file") ?? "", stringMember(body, "digest") ?? "", by(request));
      },
    },
  ];
}

function readDraft(body: JsonObject): { readonly file: string; readonly text: string } {
  const [file, text] = [stringMember(body, "file"), stringMember(body, "text")];
  if (file !== undefined && text !== undefined) return { file, text };
  throw new Refusal(422, "`file` and `text` must be texts: the path of a configuration file, and its content.");
}

/** Runs an edit of a text. Throws a `Refusal` if the text has a form that cannot be edited. */
export async function editedText(
  file: string,
  text: string,
  edit: (document: TomlDocument) => Promise<TomlDocument>,
): Promise<string> {
  try {
    return (await edit(await TomlDocument.parse(file, text))).text;
  } catch (error) {
    if (error instanceof ConfigError) throw new Refusal(422, messageOf(error));
    throw error;
  }
}

async function settingsInfo({ hubControl }: ConsoleParts, settings: SettingsFiles): Promise<SettingsInfo> {
  const opened = await settings.opened();
  const isFile = new Set([...opened.map(({ path }) => path), "default"]);
  const overrides = [...hubControl().origins].filter(([, origin]) => !isFile.has(origin));
  return {
    files: await Promise.all(opened.map((file) => describeFile(file, settings))),
    overrides: overrides.map(([path, origin]) => ({ path, origin })),
    ...(opened.length === 0 && {
      readOnlyReason:
        "This hub has no configuration file: a program created it, or it was started without one. " +
        "`toolyard init` writes a file, and `--config` names one.",
    }),
  };
}

async function describeFile({ path, document, reason }: OpenedFile, settings: SettingsFiles): Promise<SettingsFile> {
  const base = { path, isEditable: reason === undefined, ...(reason !== undefined && { reason }) };
  if (!document) return { ...base, versions: [] };
  const { hidden, digest } = settings.hiddenFile(path, document);
  const { text } = hidden;
  const { tree } = await TomlDocument.parse(path, text);
  const versions = (await settings.versions(path)).map(({ id, time, by }) => ({ id, time, by }));
  return { ...base, text, tree, digest, versions };
}

async function readVersion(settings: SettingsFiles, file: string, id: string): Promise<{ readonly text: string }> {
  await settings.open(file);
  const version = (await settings.versions(file)).find((one) => one.id === id);
  if (!version) throw new Refusal(404, `No version ${JSON.stringify(id)} of this file is kept.`);
  return { text: await settings.hiddenVersion(version) };
}
