import { isJsonObject, type JsonObject } from "../../../core/json/json.ts";
import { shortDigest } from "../../../core/json/digest.ts";
import { valuesOf, type OptionSchema } from "../../../core/options/option-schema.ts";
import type { TomlDocument, ValuePlace } from "../../../config/edit/toml-document.ts";
import { valueAt } from "../../../config/edit/tree-path.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import { argumentSecrets, settingSecrets } from "../../../telemetry/secret-settings.ts";

/** Rules that decide which values of a file are secret. */
export interface SecretRules {
  readonly schema: OptionSchema;
  /** Returns a copy of a JSON value without secrets. */
  readonly redactFacts: (facts: JsonObject) => JsonObject;
}

/** Text of a file in which placeholders replace the secrets. */
export interface HiddenText {
  readonly text: string;
  /** Written form of each secret, by its placeholder without quotes. */
  readonly secrets: ReadonlyMap<string, string>;
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces each secret value of a file by a placeholder, also in comments. A value that only refers to variables is
 * shown. The placeholder contains the digest of the text, so that it has a meaning only for this version of the file.
 */
export function hideValues(document: TomlDocument, rules: SecretRules): HiddenText {
  const version = shortDigest(document.text);
  const secrets = new Map<string, string>();
  const pieces: string[] = [];
  let end = 0;
  for (const [index, span] of secretSpans(document, rules).entries()) {
    const placeholder = `<secret ${index + 1} of ${version}>`;
    secrets.set(placeholder, document.text.slice(span.start, span.end));
    pieces.push(document.text.slice(end, span.start), JSON.stringify(placeholder));
    end = span.end;
  }
  return { text: pieces.join("") + document.text.slice(end), secrets };
}

const PLACEHOLDER = /<secret \d{1,6} of [0-9a-f]{8}>/;
const QUOTED = new RegExp(`"(${PLACEHOLDER.source})"`, "g");

/**
 * Replaces the placeholders in an edited text by the secrets. Throws a `Refusal` for an unknown placeholder, and for
 * one that is a part of another value.
 */
export function showValues(text: string, secrets: ReadonlyMap<string, string>): string {
  const whole = text.replace(QUOTED, (quoted, placeholder: string) => secrets.get(placeholder) ?? quoted);
  const left = PLACEHOLDER.exec(whole);
  if (!left) return whole;
  throw new Refusal(
    422,
    `The placeholder ${JSON.stringify(left[0])} belongs to another version of the file, or is a part of another ` +
      "value. A placeholder replaces a whole value in quotes. Write the value again.",
  );
}

/**
 * Throws a `Refusal` if a secret would be shown to readers of the settings, because its placeholder was moved to an
 * option that is not secret.
 */
export function assertStillHidden(
  edited: string,
  document: TomlDocument,
  { secrets, rules }: Pick<HiddenText, "secrets"> & { readonly rules: SecretRules },
): void {
  const spans = secretSpans(document, rules);
  let moved = 0;
  for (const match of edited.matchAll(QUOTED)) {
    const secret = secrets.get(match[1]!);
    if (secret === undefined) continue;
    const start = match.index + moved;
    moved += secret.length - match[0].length;
    if (!spans.some((span) => span.start <= start && span.end >= start + secret.length))
      throw new Refusal(
        422,
        `${match[1]} stands for a secret, and line ${lineOf(edited, match.index)} is not the place of one. ` +
          "Keep it at its option, or write the value again.",
      );
  }
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Returns the positions of the secret values, in the order of the text, without overlaps. */
function secretSpans(document: TomlDocument, rules: SecretRules): readonly TextRange[] {
  const { text, tree } = document;
  const values = document.values.flatMap((place): readonly TextRange[] =>
    isSecretAt(place, valueAt(tree, place.path), rules) || isArgument(place, tree)
      ? [{ start: place.start, end: place.end }]
      : [],
  );
  const comments = commentsOf(text).flatMap((span) => secretInComment(text, span, rules));
  return [...values, ...comments].toSorted((one, other) => one.start - other.start);
}

/** Matches TOML strings of all four forms, which may contain a `#`, and comments. */
const TOKEN = /"""(?:\\[^]|[^\\])*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\r\n]*/g;

function commentsOf(text: string): readonly TextRange[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => ({ token, index }))
    .filter(({ token }) => token.startsWith("#"))
    .map(({ token, index }) => ({ start: index + 1, end: index + token.length }));
}

/** Matches keys and quoted values of options that are commented out. */
const OPTION = /(?<![\w."-])([\w."-]{1,200})[ \t]*=[ \t]*("(?:\\.|[^"\\])*"|'[^']*')/g;

function secretInComment(text: string, { start, end }: TextRange, rules: SecretRules): readonly TextRange[] {
  const comment = text.slice(start, end);
  const options = Array.from(comment.matchAll(OPTION), ({ 0: whole, 1: key, 2: quoted, index }) => {
    const last = start + index + whole.length;
    return { key: key!, value: quoted!.slice(1, -1), start: last - quoted!.length, end: last };
  });
  const secret = options.filter(({ key, value }) => isSecretSetting(key.split(".").at(-1)!, value, rules));
  if (secret.length > 0) return secret;
  return isSecretText("", comment, rules) ? [{ start, end }] : [];
}

function isSecretSetting(name: string, value: string, { schema, redactFacts }: SecretRules): boolean {
  if (value === "" || isReference(value)) return false;
  return hasSecretOption(schema, name) || isSecretText(name, value, { redactFacts });
}

/** Returns true for a secret in a list that follows an option such as `--api-key`. */
function isArgument({ path, isScalar }: ValuePlace, tree: JsonObject): boolean {
  const at = Number(path.at(-1));
  if (!isScalar || !(at > 0)) return false;
  const list = path.slice(0, -1);
  return argumentSecrets(valueAt(tree, [...list, String(at - 1)]), valueAt(tree, path)).length > 0;
}

function isSecretAt({ path, isScalar }: ValuePlace, value: unknown, { schema, redactFacts }: SecretRules): boolean {
  if (!isScalar || value === "" || (typeof value === "string" && isReference(value))) return false;
  const found = schemasAt([schema], path);
  if (found.some(({ writeOnly, "~variable": isVariable }) => writeOnly === true && isVariable !== true)) return true;
  if (typeof value !== "string") return false;
  // For an option with a fixed name, neither the name nor the form of the value indicates a secret: a list may contain
  // `token:ops`.
  if (found.length > 0 && found.every((one) => one["~variable"] !== true))
    return redactFacts({ text: value })["text"] !== value;
  // An entry of a list is judged by the name of the list.
  const name = path.findLast((step) => !/^\d+$/.test(step)) ?? "";
  return isSecretText(name, value, { redactFacts });
}

function isSecretText(name: string, value: string, { redactFacts }: Pick<SecretRules, "redactFacts">): boolean {
  return settingSecrets(name, value).length > 0 || redactFacts({ [name]: value })[name] !== value;
}

const REFERENCES = /^(?:(?:basic|bearer|token) +)?(?:\$\{(?:env:|file:)?[^}:]+(?::-)?\})+$/i;

/** Returns true for a text that consists of references without a fallback, which are shown as they are. */
function isReference(text: string): boolean {
  return REFERENCES.test(text.trim());
}

/** Returns the schemas of a value. There are several if an option accepts several kinds of values. */
function schemasAt(schemas: readonly OptionSchema[], [step, ...rest]: readonly string[]): readonly OptionSchema[] {
  const all = schemas.flatMap((schema) => [schema, ...(schema.anyOf ?? [])]);
  if (step === undefined) return all;
  const inner = all.flatMap((schema) => {
    const next = schema.properties?.[step] ?? schema.items ?? valuesOf(schema);
    return next ? [next] : [];
  });
  return inner.length === 0 ? [] : schemasAt(inner, rest);
}

/** Returns true if any option of this name is a secret, at any place of the configuration. */
function hasSecretOption({ properties = {}, items, anyOf = [], ...rest }: OptionSchema, name: string): boolean {
  if (properties[name]?.writeOnly === true) return true;
  const values = isJsonObject(rest.additionalProperties) ? [rest.additionalProperties as OptionSchema] : [];
  const inner = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...values];
  return inner.some((schema) => hasSecretOption(schema, name));
}
