// The contract of `/api/admin/settings`. The page imports this file, so it imports only types.
import type { ActionResult, JsonValues } from "../api-types.ts";

/** `GET settings`, for administrators. */
export interface SettingsInfo {
  /** Files in force, those with the highest precedence first. */
  readonly files: readonly SettingsFile[];
  /** Options whose value does not come from a file, and therefore cannot be changed in one. */
  readonly overrides: readonly { readonly path: string; readonly origin: string }[];
  /** Reason why nothing can be changed, such as a hub without a file. */
  readonly readOnlyReason?: string;
}

export interface SettingsFile {
  readonly path: string;
  readonly isEditable: boolean;
  /** Reason why the file cannot be edited in the console. */
  readonly reason?: string;
  /**
   * Text with a placeholder for each secret. A save keeps the secrets of the placeholders. Absent: the file is not
   * TOML.
   */
  readonly text?: string;
  /** Values of the file, without secrets. */
  readonly tree?: JsonValues;
  /** Digest of the text on disk. A save names the digest that it is based on. */
  readonly digest?: string;
  /** Kept earlier versions, newest first. */
  readonly versions: readonly SettingsVersion[];
}

export interface SettingsVersion {
  readonly id: string;
  /** Time at which the version was replaced (ISO 8601). */
  readonly time: string;
  /** Caller that replaced it. */
  readonly by: string;
}

/** Body of `POST settings/check`. */
export interface SettingsDraft {
  readonly file: string;
  readonly text: string;
}

/** `POST settings/check`: what a save would do. */
export interface SettingsCheck {
  /** Reasons why the hub would refuse the text. Empty: it can be saved. */
  readonly problems: readonly string[];
  /** Values of the text. Absent: it is not TOML. */
  readonly tree?: JsonValues;
  readonly isChanged: boolean;
  /** Effects of a save. Absent if there are problems. */
  readonly effects?: SettingsEffects;
}

export interface SettingsEffects {
  readonly sources: {
    readonly added: readonly string[];
    readonly changed: readonly string[];
    readonly removed: readonly string[];
  };
  readonly sections: readonly string[];
  readonly atRestart: readonly string[];
  readonly reopens: boolean;
  readonly warnings: readonly string[];
}

/** Body of `POST settings/edit`: changes one value in a text and keeps everything else. Answer: `{text}`. */
export interface SettingsEdit extends SettingsDraft {
  readonly path: readonly string[];
  /** Absent: the value is removed. */
  readonly value?: unknown;
}

/** Body of `PUT settings`. */
export interface SettingsSave extends SettingsDraft {
  readonly digest: string;
}

/** `PUT settings`, `POST settings/undo`, `PUT sources/{id}` */
export interface SettingsSaved extends ActionResult {
  readonly digest: string;
  readonly effects: SettingsEffects;
}

/** Member `conflict` of an answer with status 409: the file was changed on disk. */
export interface SettingsConflict {
  readonly text: string;
  readonly digest: string;
}
