import { applyValue } from "../../../config/edit/apply-value.ts";
import { TomlDocument } from "../../../config/edit/toml-document.ts";
import { valueAt } from "../../../config/edit/tree-path.ts";
import { FailError } from "../../../core/errors.ts";
import { isJsonObject, stringMember } from "../../../core/json/json.ts";
import type { Provider } from "../../../core/sources/provider.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ActionResult, SourceDetail, SourceSummary } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import { callsBySource } from "./calls-by-source.ts";
import type { SettingsFiles } from "../settings/settings-files.ts";
import { editedText } from "../settings/settings-routes.ts";
import type { SettingsSaved } from "../settings/settings-types.ts";
import {
  addSource,
  applyChange,
  editablePlace,
  removeSource,
  toggleSource,
  type SourceEditor,
} from "./edit-sources.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";
import { sourceEditor } from "./source-editor.ts";
import { placesOf, type SourcePlaceInFile } from "./source-files.ts";
import { signInLink, toSummary } from "./source-rows.ts";

const REFRESH_MS = 60_000;
const MAX_TOOL_NAMES = 10_000;

/** Shows the sources, and restarts, refreshes and edits them. */
export class SourceRoutes {
  readonly #parts: ConsoleParts;
  readonly #settings: SettingsFiles;

  constructor(parts: ConsoleParts, settings: SettingsFiles) {
    this.#parts = parts;
    this.#settings = settings;
  }

  get routes(): readonly AdminRoute[] {
    return [...this.#readingRoutes, ...this.#actionRoutes, ...this.#entryRoutes];
  }

  get #readingRoutes(): readonly AdminRoute[] {
    return [
      {
        method: "GET",
        path: "sources",
        needs: "all",
        summary: "The sources with their state.",
        handle: (request) => this.#list(request),
      },
      {
        method: "GET",
        path: "sources/*",
        needs: "all",
        summary: "One source, with its stderr and tools.",
        handle: (request) => this.#one(request),
      },
    ];
  }

  get #actionRoutes(): readonly AdminRoute[] {
    const post = { method: "POST", needs: "change" } as const;
    return [
      {
        ...post,
        path: "sources/*/restart",
        action: "restart",
        summary: "Ends a source and starts it again.",
        handle: ({ names }) => this.#restart(names[0]!),
      },
      {
        ...post,
        path: "sources/*/refresh",
        action: "refresh",
        summary: "Reads the lists of a source again.",
        handle: ({ names }) => this.#refresh(names[0]!),
      },
      {
        ...post,
        path: "sources/*/enable",
        action: "enable",
        summary: "Enables a server in its file.",
        handle: ({ names }) => this.#toggle(names[0]!, true),
      },
      {
        ...post,
        path: "sources/*/disable",
        action: "disable",
        summary: "Disables a server in its file.",
        handle: ({ names }) => this.#toggle(names[0]!, false),
      },
    ];
  }

  get #entryRoutes(): readonly AdminRoute[] {
    return [
      {
        method: "POST",
        path: "sources",
        needs: "change",
        action: "add",
        summary: "Adds a server to the configuration.",
        handle: async ({ exchange }) => {
          const added = await addSource(this.#editor, await exchange.readObject("`name` and `command` or `url`"));
          return applyChange(this.#parts.hubControl(), added);
        },
      },
      {
        method: "PUT",
        path: "sources/*",
        needs: "change",
        action: "change",
        summary: "Changes the entry of a server in its file.",
        handle: (request) => this.#change(request),
      },
      {
        method: "DELETE",
        path: "sources/*",
        needs: "change",
        action: "remove",
        summary: "Removes a server from its file.",
        handle: async ({ names }) => applyChange(this.#parts.hubControl(), await removeSource(this.#editor, names[0]!)),
      },
    ];
  }

  get #editor(): SourceEditor {
    return sourceEditor(this.#parts);
  }

  async #list({ exchange }: AdminRequest): Promise<{ readonly sources: readonly SourceSummary[] }> {
    const places = await placesOf(this.#parts.hubControl());
    const calls = callsBySource(this.#parts);
    return {
      sources: this.#parts.hub.sources().map((report) =>
        toSummary(report, {
          calls: calls.get(report.source.id),
          place: places.get(report.source.id),
          signIn: signInLink(report.source.id, this.#parts.signIns, exchange.http.baseUrl),
        }),
      ),
    };
  }

  async #one({ exchange, names: [id = ""], caller }: AdminRequest): Promise<SourceDetail> {
    const report = this.#parts.hub.sources().find(({ source }) => source.id === id);
    if (!report) throw noSource(id);
    const place = (await placesOf(this.#parts.hubControl())).get(id);
    const signIn = signInLink(id, this.#parts.signIns, exchange.http.baseUrl);
    const { stderr = [], pid, info = {} } = report.status;
    const provider = this.#parts.hubControl().providers.find(({ source }) => source.id === id);
    return {
      ...toSummary(report, { calls: callsBySource(this.#parts).get(id), place, signIn }),
      stderr,
      ...(pid !== undefined && { pid }),
      info,
      toolNames: provider ? await toolNames(provider) : [],
      // Only administrators may read the entry, because it shows how a server is started.
      ...(place && caller.mayChange && (await this.#entry(place))),
      ...readOnlyReason(place?.reason, place !== undefined),
      commands: commandsFor(id, place !== undefined),
    };
  }

  async #entry(place: SourcePlaceInFile): Promise<Partial<SourceDetail>> {
    const { file, path: entryPath, options, document, isEditable } = place;
    if (!isEditable) return { entry: this.#parts.redactFacts(options), entryPath };
    const { hidden, digest } = this.#settings.hiddenFile(file, document);
    const { tree } = await TomlDocument.parse(file, hidden.text);
    const entry = valueAt(tree, entryPath);
    return { ...(isJsonObject(entry) && { entry }), entryPath, digest };
  }

  /** Changes the entry of a source in its file, with the same checks as a save of the file. */
  async #change({ names: [id = ""], exchange, caller }: AdminRequest): Promise<SettingsSaved> {
    const { entry, digest } = await exchange.readObject("`entry` and `digest`");
    if (!isJsonObject(entry)) throw new Refusal(422, "`entry` must be an object: the options of the server.");
    const { file, path, document: current } = await editablePlace(this.#parts.hubControl(), id);
    const { hidden } = this.#settings.hiddenFile(file, current);
    const text = await editedText(file, hidden.text, (document) => applyValue(document, path, entry));
    return this.#settings.save({ file, text, digest: String(digest) }, caller.principal.id);
  }

  async #restart(id: string): Promise<ActionResult> {
    if (!(await this.#parts.hubControl().restart(id))) throw noSource(id);
    return { done: true, message: `${id} was restarted.` };
  }

  async #refresh(id: string): Promise<ActionResult> {
    if (!this.#parts.hub.sources().some(({ source }) => source.id === id)) throw noSource(id);
    try {
      await this.#parts.hubControl().refresh(id, AbortSignal.timeout(REFRESH_MS));
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      throw new Refusal(502, String(this.#parts.redactFacts({ message: error.failure.message })["message"]));
    }
    return { done: true, message: `The lists of ${id} were read again.` };
  }

  async #toggle(id: string, enabled: boolean): Promise<ActionResult> {
    return applyChange(this.#parts.hubControl(), await toggleSource(this.#editor, { id, enabled }));
  }
}

function noSource(id: string): Refusal {
  return new Refusal(404, `There is no source ${JSON.stringify(id)}. \`GET /api/admin/sources\` lists the sources.`);
}

/** Returns the names of the known tools without waiting for a server. */
async function toolNames(provider: Provider): Promise<readonly string[]> {
  if (provider.coldStart?.()) return [];
  const { tools } = await provider.listing({ mayBeOld: true });
  return tools.slice(0, MAX_TOOL_NAMES).map((tool) => tool.alias ?? stringMember(tool.definition, "name") ?? tool.name);
}

function readOnlyReason(reason: string | undefined, isInFile: boolean): Pick<SourceDetail, "readOnlyReason"> {
  if (reason !== undefined) return { readOnlyReason: reason };
  return isInFile ? {} : { readOnlyReason: "It is not an entry of a configuration file." };
}

function commandsFor(id: string, isInFile: boolean): readonly string[] {
  const name = /^[\w.-]+$/.test(id) ? id : JSON.stringify(id);
  const own = ["toolyard status", "toolyard check"];
  return isInFile ? [...own, `toolyard disable ${name}`, `toolyard enable ${name}`, `toolyard remove ${name}`] : own;
}
