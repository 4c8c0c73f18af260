import { isJsonObject } from "../core/json/json.ts";
import { redactPatterns } from "./secret-patterns.ts";
import { countRandomChars, isNumbered, isPlainRun, isWordLike, runsOf, wordsOf } from "./word-likeness.ts";
import { firstChars } from "../core/text/truncate.ts";

/**
 * This file finds the secrets among the values of a configuration. An option declared as a secret is one. The value of
 * an environment variable or of a header is a secret if its name indicates it, or if the value has enough entropy.
 * Ordinary values such as `production`, `/home/me` or `100000` are not secrets: replacing them would damage every text
 * that contains them.
 */

/** Strength with which a name indicates a secret: `API_TOKEN`, `SSH_KEY`, `TOKEN_TYPE`, `LOG_LEVEL`. */
export type NameEvidence = "certain" | "named" | "mentioned" | "none";

const CERTAIN = new Set(
  "authorization apikey bearer cookie jwt pass passcode passphrase passwd password pat pwd secret token".split(" "),
);
/** Words before `key` with which a name certainly indicates a secret, such as `api` in `API_KEY`. */
const KEY_OWNERS = new Set(
  "access api client encryption master private secret service session sign signing".split(" "),
);
const NAMED = new Set("auth credential credentials key keys secrets tokens passwords cookies".split(" "));
/** Endings of names without separators, such as `PGPASSWORD` or `AUTHTOKEN`. */
const CERTAIN_END = /(?:password|passwd|passphrase|secret|token|apikey)$/;
/** Words before `token` in names of list positions, which are no secrets. */
const POSITIONS = new Set(["page", "progress", "continuation", "next"]);

/** Common values of settings, which are never keys. */
const SETTING_WORDS = new Set(
  (
    "always auto basic bearer browser default development disabled enabled false ignore info inherit keychain " +
    "keyring local localhost memory never none null oauth oauth2 optional plain production required staging test " +
    "testing true undefined unset"
  ).split(" "),
);

/**
 * Minimum number of random characters that make a value a secret under any name. Twelve hexadecimal digits have 48
 * bits.
 */
const MIN_RANDOM_CHARS = 12;
/** Maximum number of digits of a plain number: a limit, a port, a year or a number of bytes. */
const MAX_PLAIN_DIGITS = 5;
const MAX_DEPTH = 4;
/**
 * Number of characters that are searched. A longer value is a document; only its start is searched for secret parts.
 */
const MAX_SEARCHED_CHARS = 65_536;

/** Returns the secrets in the value of an option that is declared as a secret. */
export function declaredSecrets(value: string): readonly string[] {
  const url = urlOf(value);
  if (!url) return [value, ...randomParts(value)];
  const isPlace = url.pathname.length <= 1 && url.search === "" && url.hash === "";
  return [...urlSecrets(url), ...(isPlace ? [] : [value])];
}

/**
 * Returns the secrets in the value of a variable or header of this name. With `least: "mentioned"`, which applies to
 * values that the configuration reads from a reference, the value is a secret unless it is ordinary.
 */
export function settingSecrets(name: string, value: string, least: NameEvidence = "none"): readonly string[] {
  return [...new Set(secretsUnder({ name, value, least, depth: 0 }))];
}

/** Form of an option in a list of arguments, such as `--api-key`. */
const ARGUMENT_OPTION = /^--?([\w-]{1,100})$/;

/**
 * Returns the secrets in an argument that follows another one, such as `--api-key`. A reference to a secret contains
 * none.
 */
export function argumentSecrets(before: unknown, value: unknown): readonly string[] {
  const option = typeof before === "string" ? ARGUMENT_OPTION.exec(before)?.[1] : undefined;
  const isValue = typeof value === "string" && !value.startsWith("-") && !value.includes("${");
  return option !== undefined && isValue ? settingSecrets(option, value) : [];
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

interface Setting extends NamedValue {
  readonly least?: NameEvidence;
  readonly depth: number;
}

function secretsUnder({ name, value, least = "none", depth }: Setting): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  const members = jsonMembers(value);
  if (members) return members.flatMap((member) => secretsUnder({ ...member, depth: depth + 1 }));
  const searched = firstChars(value, MAX_SEARCHED_CHARS);
  const url = urlOf(value);
  return [
    ...(isSecretByName(stronger(evidenceOf(name), least), value) && !url ? [value] : []),
    ...(url ? urlSecrets(url) : []),
    ...assignments(searched).flatMap((pair) => secretsUnder({ ...pair, depth: MAX_DEPTH })),
    ...randomParts(searched),
  ];
}

function isSecretByName(evidence: NameEvidence, value: string): boolean {
  if (evidence === "none" || SETTING_WORDS.has(value.trim().toLowerCase()) || isPath(value)) return false;
  if (evidence === "certain") return !/^\d+$/.test(value) || value.length > MAX_PLAIN_DIGITS;
  return evidence === "named" ? !isPlainValue(value) : !isOrdinary(value);
}

function stronger(one: NameEvidence, least: NameEvidence): NameEvidence {
  return one === "none" ? least : one;
}

function evidenceOf(name: string): NameEvidence {
  const words = wordsOf(name).map((word) => word.toLowerCase());
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (last === "token" && POSITIONS.has(before)) return "none";
  if (CERTAIN.has(last) || CERTAIN_END.test(last) || (last === "key" && KEY_OWNERS.has(before))) return "certain";
  if (NAMED.has(last)) return "named";
  return words.some((word) => CERTAIN.has(word) || NAMED.has(word)) ? "mentioned" : "none";
}

/**
 * Returns true if a value is a word, a number, a boolean or a path. Such a value is not redacted in the definitions
 * that its source lists, even if it is configured as a secret.
 */
export function isPlainValue(value: string): boolean {
  const text = value.trim();
  return (
    SETTING_WORDS.has(text.toLowerCase()) || isShortNumber(text) || isPath(text) || (isLetters(text) && text !== "")
  );
}

/** Returns true if a value is so random that it does not occur in a text by chance. */
function isRandomValue(value: string): boolean {
  return countRandomChars(value) >= MIN_RANDOM_CHARS || redactPatterns(value) !== value;
}

/** Returns true if a value consists of words and numbers: `client_credentials`, `us-east-1`, `X-Api-Key`, `oauth2`. */
export function isOrdinary(value: string): boolean {
  const runs = runsOf(value);
  const hasWord = runs.some((run) => wordsOf(run).some((word) => isWordLike(word)));
  return (
    isPlainValue(value) ||
    isNumber(value) ||
    (hasWord && runs.every((run) => /^\p{N}{1,8}$/u.test(run) || isLetters(run) || isNumbered(run)))
  );
}

function isLetters(run: string): boolean {
  return /^\p{L}+$/u.test(run) && isPlainRun(run);
}

function isNumber(value: string): boolean {
  return /^[-+]?\d[\d.,:_\sTZ/+%-]{0,40}[a-z]{0,3}$/i.test(value);
}

/** A number with at most this many digits is a plain value, because a text may contain it by chance. */
const MAX_AMOUNT_DIGITS = 9;

function isShortNumber(value: string): boolean {
  return isNumber(value) && value.replaceAll(/\D/g, "").length <= MAX_AMOUNT_DIGITS;
}

function isPath(value: string): boolean {
  const looksLikeOne = /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/]|file:)/.test(value);
  return looksLikeOne && countRandomChars(value) < MIN_RANDOM_CHARS;
}

function urlOf(value: string): URL | undefined {
  return /^[a-z][a-z\d+.-]{1,30}:\/\/\S+$/i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
}

/**
 * Returns the secrets in a URL: its password, query values under names that indicate a secret, and random parts of path
 * and query.
 */
function urlSecrets(url: URL): readonly string[] {
  const query = [...url.searchParams].flatMap(([name, value]) =>
    isSecretByName(evidenceOf(name), value) || isRandomValue(value) ? [value] : [],
  );
  const steps = [url.username, ...url.pathname.split("/"), url.hash.slice(1)].map(decoded);
  return [decoded(url.password), ...query, ...steps.filter((step) => isRandomValue(step))].filter(
    (part) => part !== "",
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the members of a JSON object in a variable; headers and whole configurations are passed in this way. */
function jsonMembers(value: string): readonly NamedValue[] | undefined {
  if (!/^\s*\{/.test(value)) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    if (!isJsonObject(parsed)) return undefined;
    return Object.entries(parsed).map(([name, member]) => ({
      name,
      value: typeof member === "string" ? member : JSON.stringify(member),
    }));
  } catch {
    return undefined;
  }
}

const ASSIGNMENT =
  /(?<![\w.-])(?<name>[\w.-]{1,64})(?:=|: {0,4})(?:"(?<quoted>[^"]{1,4096})"|'(?<single>[^']{1,4096})'|(?<bare>[^\s;,&"']{1,4096}))/g;

/** Returns the pairs of `name=value` and `name: value`, as in connection strings, cookies and arguments. */
function assignments(text: string): readonly NamedValue[] {
  return Array.from(text.matchAll(ASSIGNMENT), ({ groups = {} }) => ({
    name: groups["name"] ?? "",
    value: groups["quoted"] ?? groups["single"] ?? groups["bare"] ?? "",
  }));
}

/**
 * Returns the random parts of a text between separators. A file path has none, even if the name of a folder looks
 * random.
 */
function randomParts(text: string): readonly string[] {
  return text
    .split(/[\s,;|"'<>()[\]{}]+/)
    .map((part) => part.replace(/^-{0,2}[\w.-]{1,64}=(?=[^=])/, ""))
    .filter((part) => !looksLikePlace(part) && isRandomValue(part));
}

function looksLikePlace(part: string): boolean {
  return /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/]|[a-z][a-z\d+.-]{1,30}:\/\/)/i.test(part);
}
