import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { encodedForms, plainForms, secretParts } from "./secret-forms.ts";
import { SecretMatcher, type SecretForm } from "./secret-matcher.ts";
import { isSecretName, redactPatterns, REDACTED } from "./secret-patterns.ts";
import { isOrdinary, isPlainValue } from "./secret-settings.ts";

/** Minimum length of a secret. Shorter values are ordinary words; replacing them would damage most lines. */
const MIN_SECRET_CHARS = 6;
/** Maximum number of encodings of all secrets together. */
const MAX_FORMS = 10_000;
const MAX_DEPTH = 8;
/** Maximum number of cached names. */
const MAX_NAMES = 1000;

/** Owner of secrets that change while the program runs. */
export interface SecretOwner {
  /** Id of the source that uses the secrets. */
  readonly source: string;
}

/**
 * Removes secrets from output: registered values in their usual encodings, values under a name such as `password`, and
 * text that looks like a credential. Runs in linear time. From the definitions of a source, only that source's own
 * secrets are removed, and never a plain word.
 */
export class Redactor {
  readonly #secrets = new Map<string, readonly SecretForm[]>();
  #formCount = 0;
  readonly #changing = new Map<SecretOwner, ReadonlyMap<string, readonly SecretForm[]>>();
  /** Secrets of the configuration that each source uses, by source id. */
  readonly #given = new Map<string, ReadonlySet<string>>();
  #matcher: SecretMatcher | undefined;
  readonly #bySource = new Map<string, SecretMatcher | undefined>();
  readonly #names = new Map<string, string>();
  /** Number of changes of the secrets. A text that was redacted at an earlier version may contain new secrets. */
  version = 0;

  /**
   * Registers a resolved secret. Returns false if it is too short to distinguish it from ordinary words, or if the
   * limit `MAX_FORMS` is reached.
   */
  add(secret: string): boolean {
    if (secret.trim().length < MIN_SECRET_CHARS || this.#formCount >= MAX_FORMS) return false;
    if (this.#secrets.has(secret)) return true;
    const forms = formsOf(secret);
    this.#secrets.set(secret, forms);
    this.#formCount += forms.length;
    this.#forget();
    return true;
  }

  addAll(secrets: Iterable<string>): void {
    for (const secret of secrets) this.add(secret);
  }

  /** Replaces the secrets of an owner, for secrets that change while the program runs. An empty list removes them. */
  replace(owner: SecretOwner, secrets: readonly string[]): void {
    if (secrets.length === 0) this.#changing.delete(owner);
    else this.#changing.set(owner, new Map(secrets.map((secret) => [secret, formsOf(secret)])));
    this.#forget();
  }

  /** Registers the configuration of each source, by source id, as a text that may contain secrets. */
  give(settings: ReadonlyMap<string, string>): void {
    const forms = new Map([...this.#secrets].flatMap(([secret, all]) => all.map(({ text }) => [text, secret])));
    const matcher = new SecretMatcher([...forms.keys()].map((text) => ({ text, isWhole: false })));
    this.#given.clear();
    for (const [source, text] of settings)
      this.#given.set(source, new Set(Array.from(matcher.found(text), (form) => forms.get(form)!)));
    this.#forget();
  }

  /** Removes all registered secrets, before a new configuration registers its own. */
  clear(): void {
    this.#secrets.clear();
    this.#formCount = 0;
    this.#changing.clear();
    this.#given.clear();
    this.#forget();
  }

  text(text: string): string {
    return redactPatterns(this.known(text));
  }

  /**
   * Applies `text` to a short text that repeats, such as the name of a tool. The results are kept until the secrets
   * change.
   */
  name(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const clean = this.text(text);
    if (this.#names.size >= MAX_NAMES) this.#names.clear();
    this.#names.set(text, clean);
    return clean;
  }

  /** Replaces registered secrets only, in texts that must otherwise not change. */
  known(text: string): string {
    if (this.#isEmpty()) return text;
    this.#matcher ??= matcherOf([this.#secrets, ...this.#changing.values()]);
    return this.#matcher.replace(text, REDACTED);
  }

  /** Removes a source's own secrets from a text that the source wrote, but keeps plain words, numbers and paths. */
  definition(source: string, text: string): string {
    if (this.#isEmpty()) return text;
    if (!this.#bySource.has(source)) this.#bySource.set(source, this.#definitionMatcher(source));
    return this.#bySource.get(source)?.replace(text, REDACTED) ?? text;
  }

  /** Applies `definition` to all texts of a JSON value. */
  definitionIn<T>(source: string, value: T): T {
    return this.#isEmpty() ? value : (replaceTexts(value, (text) => this.definition(source, text), 0) as T);
  }

  #definitionMatcher(source: string): SecretMatcher | undefined {
    const given = [...(this.#given.get(source) ?? [])].map(
      (secret) => [secret, this.#secrets.get(secret) ?? []] as const,
    );
    const own = [...this.#changing].filter(([owner]) => owner.source === source).flatMap(([, secrets]) => [...secrets]);
    const visible = [...given, ...own].filter(([secret]) => !isPlainValue(secret));
    return visible.length === 0 ? undefined : matcherOf([new Map(visible)]);
  }

  #forget(): void {
    this.version += 1;
    this.#names.clear();
    this.#matcher = undefined;
    this.#bySource.clear();
  }

  /** Applies `known` to all texts of a JSON value, at any depth. Returns the same value if it contains no secret. */
  knownIn<T>(value: T): T {
    return this.#isEmpty() ? value : (replaceTexts(value, (text) => this.known(text), 0) as T);
  }

  /** Returns a redacted copy of a JSON value, without the values under names that indicate a secret. */
  value(value: unknown): unknown {
    return this.#copy(value, 0);
  }

  facts(facts: JsonObject): JsonObject {
    return this.#copy(facts, 0) as JsonObject;
  }

  #isEmpty(): boolean {
    return this.#secrets.size === 0 && this.#changing.size === 0;
  }

  #copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return "…";
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.text(name),
        isSecretName(name) ? withoutTexts(member, depth + 1) : this.#copy(member, depth + 1),
      ]),
    );
  }
}

function formsOf(secret: string): SecretForm[] {
  return secretParts(secret)
    .filter((part) => part.trim().length >= MIN_SECRET_CHARS)
    .flatMap((part) => {
      // An ordinary word is replaced only as a whole word, because it may be part of other words. A random value is
      // replaced anywhere.
      const isWhole = isOrdinary(part);
      const plain = plainForms(part);
      const encoded = [...encodedForms(part)].filter((text) => !plain.has(text));
      return [
        ...Array.from(plain, (text) => ({ text, isWhole })),
        ...encoded.map((text) => ({ text, isWhole: false })),
      ];
    });
}

function matcherOf(groups: readonly ReadonlyMap<string, readonly SecretForm[]>[]): SecretMatcher {
  const forms = new Map<string, SecretForm>();
  for (const group of groups)
    for (const form of [...group.values()].flat())
      if (forms.get(form.text)?.isWhole !== false) forms.set(form.text, form);
  return new SecretMatcher(forms.values());
}

/** Maximum nesting; JSON text cannot be nested deeper. */
const MAX_NESTING = 500;

function replaceTexts(value: unknown, replace: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return replace(value);
  if (typeof value !== "object" || value === null || depth > MAX_NESTING) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => replaceTexts(item, replace, depth + 1));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value);
  const replaced = entries.map(([name, member]) => [name, replaceTexts(member, replace, depth + 1)] as const);
  return replaced.some(([, member], at) => member !== entries[at]![1]) ? Object.fromEntries(replaced) : value;
}

function withoutTexts(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value === "" ? "" : REDACTED;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutTexts(member, depth + 1)]));
}
