import { isJsonObject, type JsonObject } from "../core/json.ts";
import { isSecretName, redactPatterns, REDACTED } from "./secret-patterns.ts";

/** Shorter values are common words; hiding them would hide half of every line. */
const MIN_SECRET_CHARS = 6;
const MAX_SECRETS = 5000;
const MAX_DEPTH = 8;

/**
 * Takes secrets out of what is written or shown: the values that it was told, in the forms in which they travel; what stands under a
 * name such as `password`; and what looks like a credential wherever it stands. Its cost is linear in the text.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  #matcher: RegExp | undefined;

  /** Registers a resolved secret. False: it is too short to be told from ordinary words, or there are too many. */
  add(secret: string): boolean {
    if (secret.trim().length < MIN_SECRET_CHARS || this.#secrets.size >= MAX_SECRETS) return false;
    for (const form of formsOf(secret)) this.#secrets.add(form);
    this.#matcher = undefined;
    return true;
  }

  /** Forgets all registered secrets, as before a new configuration registers its own. */
  clear(): void {
    this.#secrets.clear();
    this.#matcher = undefined;
  }

  text(text: string): string {
    const known = this.#secrets.size === 0 ? text : text.replace(this.#known(), REDACTED);
    return redactPatterns(known);
  }

  /** A copy of any JSON value with its texts redacted, and whatever stands under a telling name gone. */
  value(value: unknown): unknown {
    return this.#copy(value, 0);
  }

  facts(facts: JsonObject): JsonObject {
    return this.#copy(facts, 0) as JsonObject;
  }

  #copy(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return "…";
    if (Array.isArray(value)) return value.map((item) => this.#copy(item, depth + 1));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [this.text(name), isSecretName(name) ? withoutTexts(member, depth + 1) : this.#copy(member, depth + 1)]),
    );
  }

  #known(): RegExp {
    this.#matcher ??= new RegExp(
      Array.from(this.#secrets)
        .toSorted((a, b) => b.length - a.length)
        .map((secret) => secret.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
        .join("|"),
      "g",
    );
    return this.#matcher;
  }
}

// As it is, inside JSON text, inside a URL, and as a credential of basic authentication.
function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString("base64")];
  try {
    forms.push(encodeURIComponent(secret));
  } catch {
    // Half of a surrogate pair has no such form.
  }
  return forms;
}

function withoutTexts(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value === "" ? "" : REDACTED;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutTexts(member, depth + 1)]));
}
