const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from " +
    "global if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/**
 * Whether Python takes a word as the name of an argument and behind a dot. Inside of classes it changes names that
 * begin with two underscores, so these do not count.
 */
export function isPythonName(word: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(word) && !KEYWORDS.has(word);
}
