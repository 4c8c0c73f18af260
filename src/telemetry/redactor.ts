import { isJsonObject, type JsonObject } from "../core/json.ts";
import { secretForms, secretParts } from "./secret-forms.ts";
import { SecretMatcher } from "./secret-matcher.ts";
import { isSecretName, redactPatterns, REDACTED } from "./secret-patterns.ts";

/** Shorter values are common words; hiding them would hide half of every line. */
const MIN_SECRET_CHARS = 6;
/** Of all forms together. */
const MAX_FORMS = 10_000;
const MAX_DEPTH = 8;

/**
 * Takes secrets out of what is written or shown: the values that it was told, in the forms in which they travel; what
 * stands under a name such as `password`; and what looks like a credential wherever it stands. Its cost is linear in
 * the text.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #changing = new Map<object, ReadonlySet<string>>();
  #matcher: SecretMatcher | undefined;

  /** Registers a resolved secret. False: it is too short to be told from ordinary words, or there are too many. */
  add(secret: string): boolean {
    if (secret.trim().length < MIN_SECRET_CHARS || this.#secrets.size >= MAX_FORMS) return false;
    for (const form of formsOf(secret)) this.#secrets.add(form);
    this.#matcher = undefined;
    return true;
  }

  /**
   * Registers what an owner has now in place of what it had before: secrets that change while the program runs. None:
   * it has no more.
   */
  replace(owner: object, secrets: readonly string[]): void {
    if (secrets.length === 0) this.#changing.delete(owner);
    else this.#changing.set(owner, new Set(secrets.flatMap(formsOf)));
    this.#matcher = undefined;
  }

  /** Forgets all registered secrets, as before a new configuration registers its own. */
  clear(): void {
    this.#secrets.clear();
    this.#changing.clear();
    this.#matcher = undefined;
  }

  text(text: string): string {
    return redactPatterns(this.known(text));
  }

  /** Takes out the registered secrets alone, for texts that must otherwise stay as they are. */
  known(text: string): string {
    if (this.#isEmpty()) return text;
    this.#matcher ??= new SecretMatcher(
      new Set([this.#secrets, ...this.#changing.values()].flatMap((forms) => [...forms])),
    );
    return this.#matcher.replace(text, REDACTED);
  }

  /** The same for all texts of a JSON value, however deep; the value itself when it holds none. */
  knownIn<T>(value: T): T {
    return this.#isEmpty() ? value : (replaceTexts(value, (text) => this.known(text), 0) as T);
  }

  /** A copy of any JSON value with its texts redacted, and whatever stands under a telling name gone. */
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

function formsOf(secret: string): string[] {
  return secretParts(secret)
    .filter((part) => part.trim().length >= MIN_SECRET_CHARS)
    .flatMap((part) => [...secretForms(part)]);
}

/** Nothing that JSON can write is nested deeper. */
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
