import { OptionError } from "../../core/errors.ts";

/**
 * Splits a command line into words as a POSIX shell does: at blanks, with '…', "…" and `\`. Nothing is expanded, and
 * what only a shell could do (pipes, `;`, `&`, redirections) is refused, since no shell runs it. Throws an
 * `OptionError`. On Windows `\` is a plain character, as paths are made of it.
 */
export function splitWords(text: string, platform: NodeJS.Platform = process.platform): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote === "'" && char !== "'") word += char;
    else if (char === "\\" && platform !== "win32") {
      const next = text[at + 1];
      if (next === undefined) throw new OptionError("`command` ends with a lone backslash.");
      // Inside "…" a backslash only takes the meaning of these away.
      const keeps = quote === '"' && !'"\\$`'.includes(next);
      word = (word ?? "") + (keeps ? `\\${next}` : next);
      at += 1;
    } else if (quote === char) quote = undefined;
    else if (quote !== undefined) word += char;
    else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if ("|;&<>`".includes(char)) {
      throw new OptionError(
        `\`command\` holds \`${char}\`, which only a shell understands. ` +
          `Put it in quotes, or start the shell itself: ["sh", "-c", "…"].`,
      );
    } else word = (word ?? "") + char;
  }
  if (quote !== undefined) throw new OptionError(`\`command\` has a ${quote} without its partner.`);
  if (word !== undefined) words.push(word);
  return words;
}
