import { editConfigFile } from "../../../config/edit/config-file.ts";
import type { Acceptance } from "../../../config/edit/keep-accepted.ts";
import { TomlDocument } from "../../../config/edit/toml-document.ts";
import { ConfigError, messageOf, OptionError } from "../../../core/errors.ts";
import { contentDigest } from "../../../core/json/digest.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import type { HubControl } from "../../../core/ports/hub-control.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import { editFile } from "../api/edit-sources.ts";
import { RefusalWithBody } from "../api/route.ts";
import { openFiles, type OpenedFile } from "../api/source-files.ts";
import type { FileHistory, KeptVersion } from "./file-history.ts";
import { assertStillHidden, hideValues, showValues, type HiddenText, type SecretRules } from "./hidden-values.ts";
import type {
  SettingsCheck,
  SettingsConflict,
  SettingsEffects,
  SettingsSave,
  SettingsSaved,
} from "./settings-types.ts";

/** Maximum length of a text that is checked or saved. */
const MAX_TEXT_CHARS = 1_000_000;

export interface SettingsParts {
  readonly control: HubControl;
  readonly acceptance: Acceptance;
  readonly history: FileHistory;
  /** Returns a copy of a JSON value without secrets. */
  readonly redactFacts: (facts: JsonObject) => JsonObject;
}

/** A file with its text as the page gets it. */
export interface HiddenFile {
  readonly path: string;
  readonly document: TomlDocument;
  readonly hidden: HiddenText;
  readonly digest: string;
}

/** Reads, checks and saves configuration files for a page that never gets the secrets in them. */
export class SettingsFiles {
  readonly #parts: SettingsParts;

  constructor(parts: SettingsParts) {
    this.#parts = parts;
  }

  get #rules(): SecretRules {
    const { control, redactFacts } = this.#parts;
    return { schema: control.schema, redactFacts };
  }

  opened(): Promise<readonly OpenedFile[]> {
    return openFiles(this.#parts.control);
  }

  /** Returns a file without its secrets, as the page gets it. */
  hiddenFile(path: string, document: TomlDocument): HiddenFile {
    return { path, document, hidden: this.#hide(document), digest: contentDigest(document.text) };
  }

  #hide(document: TomlDocument): HiddenText {
    return hideValues(document, this.#rules);
  }

  versions(path: string): Promise<readonly KeptVersion[]> {
    return this.#parts.history.list(path);
  }

  /** Returns a file in force that can be edited. Throws a `Refusal`. */
  async open(path: string): Promise<HiddenFile> {
    const { document, reason } = await this.#find(path);
    if (!document || reason !== undefined) throw new Refusal(409, reason ?? `${path} cannot be edited.`);
    return this.hiddenFile(path, document);
  }

  /** Checks a text as `toolyard check` does, and returns what a save would do. */
  async check(path: string, text: string): Promise<SettingsCheck> {
    const file = await this.open(path);
    const isChanged = text !== file.hidden.text;
    let tree: JsonObject | undefined;
    try {
      ({ tree } = await TomlDocument.parse(path, limited(text)));
      const restored = await this.#restore(file, text);
      return { problems: [], tree, isChanged, effects: await this.#preview(path, restored) };
    } catch (error) {
      return { problems: this.#problemsOf(error), isChanged, ...(tree && { tree }) };
    }
  }

  /**
   * Saves a text. Throws a `Refusal` if the hub would refuse it, or if the file was changed since `digest`. `change`
   * is the first part of the message.
   */
  async save(
    { file: path, text, digest }: SettingsSave,
    by: string,
    change = `${path} was saved`,
  ): Promise<SettingsSaved> {
    const file = await this.open(path);
    if (file.digest !== digest) throw conflictWith(file);
    let effects: SettingsEffects;
    let restored: string;
    try {
      restored = await this.#restore(file, text);
      effects = await this.#preview(path, restored);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Refusal(422, this.#problemsOf(error).join("\n"));
    }
    return this.#write(file, restored, { by, effects, change });
  }

  /** Restores the newest kept version that differs from the file. */
  async undo(path: string, digest: string, by: string): Promise<SettingsSaved> {
    const { document } = await this.open(path);
    const version = (await this.versions(path)).find(({ text }) => text !== document.text);
    if (!version) throw new Refusal(409, `No earlier version of ${path} is kept.`);
    const text = await this.hiddenVersion(version);
    return this.save({ file: path, digest, text }, by, `The earlier version of ${path} was restored`);
  }

  /** Returns the text of a kept version without its secrets. */
  async hiddenVersion({ text }: KeptVersion): Promise<string> {
    return this.#hide(await TomlDocument.parse("this version", text)).text;
  }

  async #write(
    file: HiddenFile,
    text: string,
    { by, effects, change }: { readonly by: string; readonly effects: SettingsEffects; readonly change: string },
  ): Promise<SettingsSaved> {
    const { control, acceptance, history } = this.#parts;
    const { path, document, digest } = file;
    if (text !== document.text) {
      await history.keep(path, document.text, by);
      const edit = async (current: TomlDocument): Promise<TomlDocument> => {
        if (contentDigest(current.text) !== digest) throw conflictWith(this.hiddenFile(path, current));
        return TomlDocument.parse(path, text);
      };
      await editFile(path, acceptance, () => editConfigFile(path, control.schema, edit));
    }
    const saved = { done: true, file: path, digest: contentDigest(text), effects } as const;
    try {
      await control.reload();
      return { ...saved, message: `${change} and applied.` };
    } catch (error) {
      return { ...saved, message: `${change}. The running hub has not applied it: ${messageOf(error)}` };
    }
  }

  /** Returns the text with the secrets of its placeholders, which may be those of the file or of a kept version. */
  async #restore({ path, hidden }: HiddenFile, text: string): Promise<string> {
    const secrets = new Map(hidden.secrets);
    if (text.includes("<secret "))
      for (const version of await this.versions(path))
        for (const [placeholder, secret] of await this.#secretsOf(path, version)) secrets.set(placeholder, secret);
    const restored = showValues(limited(text), secrets);
    assertStillHidden(text, await TomlDocument.parse(path, restored), { secrets, rules: this.#rules });
    return restored;
  }

  async #secretsOf(path: string, { text }: KeptVersion): Promise<HiddenText["secrets"]> {
    try {
      return this.#hide(await TomlDocument.parse(path, text)).secrets;
    } catch {
      return new Map();
    }
  }

  /** Returns the problems that a check has found, without secrets. Throws any other error. */
  #problemsOf(error: unknown): readonly string[] {
    if (!(error instanceof ConfigError || error instanceof OptionError || error instanceof Refusal)) throw error;
    const problems = error instanceof ConfigError ? error.problems : [error.message];
    return problems.map((problem) => String(this.#parts.redactFacts({ problem })["problem"]));
  }

  #preview(path: string, text: string): Promise<SettingsEffects> {
    return this.#parts.control.preview({ path, text });
  }

  async #find(path: string): Promise<OpenedFile> {
    const found = (await this.opened()).find((one) => one.path === path);
    if (found) return found;
    throw new Refusal(
      404,
      `${JSON.stringify(path)} is not a configuration file of this hub. \`GET settings\` lists them.`,
    );
  }
}

function limited(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  throw new Refusal(413, `The text has ${text.length} characters. At most ${MAX_TEXT_CHARS} are accepted.`);
}

function conflictWith({ path, hidden, digest }: HiddenFile): RefusalWithBody {
  const conflict: SettingsConflict = { text: hidden.text, digest };
  return new RefusalWithBody(409, `${path} was changed on disk. Nothing was saved. Compare both texts.`, { conflict });
}
