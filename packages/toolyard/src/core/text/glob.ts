/** Maximum length of a pattern in characters. A match costs at most this many steps per character of the text. */
const MAX_GLOB_LENGTH = 512;

/**
 * Matches a name against a pattern in which `*` matches any number of characters, including none, and `?` exactly one.
 * All other characters match themselves, case-sensitive. Backtracks only to the last `*`, which limits the cost of
 * every pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  if (pattern === "*") return true;
  if (pattern.length > MAX_GLOB_LENGTH) return pattern === text;
  let at = 0;
  let star = -1;
  let resume = 0;
  let position = 0;
  while (position < text.length) {
    const wanted = pattern[at];
    if (wanted === "*") {
      star = at;
      resume = position;
      at += 1;
    } else if (wanted === "?" || (wanted !== undefined && wanted === text[position])) {
      at += 1;
      position += 1;
    } else if (star !== -1) {
      resume += 1;
      position = resume;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}

/** Returns true if one of the patterns matches. */
export function matchesAnyGlob(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, text));
}
