export const REDACTED = "***";

const SECRET_NAME =
  /(?:token|secret|password|passwd|passphrase|authorization|apikey|accesskey|privatekey|secretkey|cookie|credentials?|bearer|jwt)$/;
/** Names that end like the name of a secret but whose values are no secrets. */
const HARMLESS = new Set(["progresstoken", "pagetoken", "nextpagetoken"]);

/** Returns true if a value under this name is a secret, such as `api_key`, `Authorization`, `clientSecret`. */
export function isSecretName(name: string): boolean {
  const plain = name
    .slice(-80)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
  return SECRET_NAME.test(plain) && !HARMLESS.has(plain);
}

const NAMES = "token|secret|password|passwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key";

// Each repetition is limited, or is at the end of its pattern, so that no text makes the search slow.
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Matches `Authorization: Bearer x` and `Basic x`.
  [/\b(bearer\s{1,8})[\w.~+/=-]{4,}/gi, `$1${REDACTED}`],
  [/\b(basic\s{1,8})(?=[A-Za-z0-9+/]{0,200}[\dA-Z=])[A-Za-z0-9+/]{8,}={0,2}/g, `$1${REDACTED}`],
  [/\b(Basic\s{1,8})[A-Za-z0-9+/]{8,}={0,2}/g, `$1${REDACTED}`],
  // Matches `https://user:password@host`.
  [/:\/\/[^\s/?#"'<>]{1,512}@/g, `://${REDACTED}@`],
  // Matches `?access_token=x`, `API_KEY=x` and `--password=x`.
  [
    new RegExp(
      String.raw`((?:${NAMES}|signature|[?&;](?:sig|key|code|auth))=)(?:"[^"]{1,4096}"|'[^']{1,4096}'|[^\s"'&,;]{1,4096})`,
      "gi",
    ),
    `$1${REDACTED}`,
  ],
  // Matches `"password": "x"`.
  [
    new RegExp(String.raw`("[^"\\\s]{0,40}(?:${NAMES}|authorization)"\s{0,3}:\s{0,3}")(?:[^"\\]|\\.){1,4096}`, "gi"),
    `$1${REDACTED}`,
  ],
  // Matches keys with a well-known prefix.
  [/\b(?:sk|pk|rk)-[\w-]{16,}/g, REDACTED],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|npm_)[\w-]{10,}/g, REDACTED],
  [/\bAKIA[0-9A-Z]{16}\b/g, REDACTED],
  // Matches a JSON Web Token. Each run of token characters is searched once, from its start, because a long run of
  // "eyJ" would otherwise take quadratic time.
  [/(?<![\w-])(?=([\w-]*?)\beyJ)\1eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, `$1${REDACTED}`],
];

/**
 * Matches `password: x1`. The match includes the whole value, so that a name inside the value does not start another
 * search.
 */
const NAMED_VALUE = new RegExp(String.raw`\b((?:${NAMES}):\s{0,3})([^\s"',;]{6,4096})`, "gi");
const DIGIT_SOON = /^[^\s"']{0,200}\d/;
const DIGIT_SOON_CHARS = 201;

/**
 * Replaces a named value. A value without a digit in it or shortly after it counts as an ordinary word of a sentence,
 * and stays unchanged.
 */
function redactValue(found: string, name: string, ...[value, at, text]: readonly [string, number, string]): string {
  const start = at + name.length;
  const isWord = !/\d/.test(value) && !DIGIT_SOON.test(text.slice(start, start + DIGIT_SOON_CHARS));
  return isWord ? found : `${name}${REDACTED}`;
}

/** Fast test before the patterns: most lines contain no credential. */
const HINT =
  /bearer|basic|:\/\/|=|token|secret|passw|passphrase|key|auth|\b(?:sk|pk|rk)-|gh[pousr]_|github_|glpat-|xox|npm_|AKIA|eyJ/i;

/** Replaces text that looks like a credential. */
export function redactPatterns(text: string): string {
  if (!HINT.test(text)) return text;
  let clean = text;
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean.replace(NAMED_VALUE, redactValue);
}
