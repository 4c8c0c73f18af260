import { parseJsonObject } from "../../core/json/json-object-text.ts";
import { stringMember, type JsonObject } from "../../core/json/json.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Lifetime of a token if the endpoint sends none. */
export const DEFAULT_LIFETIME_MS = 5 * 60_000;
/** Time after which a token with a longer lifetime is renewed. */
const MAX_LIFETIME_MS = 24 * 3_600_000;
const MAX_TOKEN_CHARS = 16 * 1024;
/** Maximum length of the endpoint's text in a message. */
const MAX_WORDS_CHARS = 200;

export type TokenAnswer =
  | { readonly type: "token"; readonly token: string; readonly lifetimeMs: number }
  | { readonly type: "refused"; readonly error: string; readonly description: string }
  | { readonly type: "malformed"; readonly what: string };

/** Parses the answer of a token endpoint (RFC 6749, 5.1 and 5.2). `hide` removes secrets from displayed text. */
export function readTokenAnswer(text: string, hide: (words: string) => string): TokenAnswer {
  const answer = parseJsonObject(text);
  if (!answer) return { type: "malformed", what: "sent an answer that is not a JSON object" };
  const error = stringMember(answer, "error");
  if (error !== undefined)
    return {
      type: "refused",
      error: shown(hide(error)),
      description: shown(hide(stringMember(answer, "error_description") ?? "")),
    };
  return readToken(answer, hide);
}

function readToken(answer: JsonObject, hide: (words: string) => string): TokenAnswer {
  const token = stringMember(answer, "access_token");
  const kind = stringMember(answer, "token_type") ?? "bearer";
  if (token === undefined) return { type: "malformed", what: "answered without an `access_token`" };
  if (kind.toLowerCase() !== "bearer")
    return {
      type: "malformed",
      what: `gave a token of type ${JSON.stringify(shown(hide(kind)))} where \`Bearer\` is due`,
    };
  if (token.length > MAX_TOKEN_CHARS || !/^[\x21-\x7e]+$/.test(token))
    return { type: "malformed", what: "gave a token that no header can carry" };
  return { type: "token", token, lifetimeMs: lifetimeOf(answer["expires_in"]) };
}

// Some endpoints write the number as text, so both types are accepted.
function lifetimeOf(expiresIn: unknown): number {
  const seconds = typeof expiresIn === "string" && expiresIn.trim() !== "" ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) return DEFAULT_LIFETIME_MS;
  return Math.min(seconds * 1000, MAX_LIFETIME_MS);
}

function shown(words: string): string {
  const printable = words.replaceAll(/[^\x20-\x7e]+/g, " ").trim();
  return printable.length > MAX_WORDS_CHARS ? `${firstChars(printable, MAX_WORDS_CHARS)}…` : printable;
}
