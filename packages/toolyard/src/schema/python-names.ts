const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from " +
    "global if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

/**
 * Returns whether Python allows a word as the name of an argument and after a dot. Names that start with two
 * underscores are excluded, because classes mangle them.
 */
export function isPythonName(word: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(word) && !KEYWORDS.has(word);
}
