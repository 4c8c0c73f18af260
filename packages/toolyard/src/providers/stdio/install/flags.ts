/** Flags of a command: those without a value, and those that take the next word as their value. */
export interface FlagRules {
  readonly switches: readonly string[];
  readonly values: readonly string[];
  /** True: flags in neither list take a value. @default such flags are unknown */
  readonly othersTakeValues?: boolean;
}

/** Splits a text with a list of flags. */
export function flagNames(text: string): readonly string[] {
  return text.split(" ");
}

export interface Flag {
  readonly name: string;
  readonly value?: string;
  /** The words of the flag as written in the command. */
  readonly words: readonly string[];
}

export interface SplitCommand {
  readonly flags: readonly Flag[];
  /** The words from the first one that is no flag. */
  readonly rest: readonly string[];
}

/**
 * Separates the flags before a command from the command and its arguments. Returns `undefined` if a flag is unknown,
 * because a word that looks like a package name might be its value.
 */
export function splitFlags(words: readonly string[], rules: FlagRules): SplitCommand | undefined {
  const flags: Flag[] = [];
  let at = 0;
  for (; at < words.length; at += flags.at(-1)!.words.length) {
    const word = words[at]!;
    if (word === "--") return { flags, rest: words.slice(at + 1) };
    if (!word.startsWith("-") || word === "-") break;
    const flag = readFlag(word, words[at + 1], rules);
    if (!flag) return undefined;
    flags.push(flag);
  }
  return { flags, rest: words.slice(at) };
}

function readFlag(word: string, next: string | undefined, rules: FlagRules): Flag | undefined {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  if (equals > 0) return { name: word.slice(0, equals), value: word.slice(equals + 1), words: [word] };
  if (isSwitch(word, rules)) return { name: word, words: [word] };
  const attached = attachedValue(word, rules);
  if (attached) return attached;
  const takesValue = rules.values.includes(word) || rules.othersTakeValues === true;
  return takesValue && next !== undefined ? { name: word, value: next, words: [word, next] } : undefined;
}

/** Returns whether the word contains only flags without a value: `-it` means `-i -t`. */
function isSwitch(word: string, { switches }: FlagRules): boolean {
  if (switches.includes(word)) return true;
  return (
    /^-[a-z]{2,}$/i.test(word) &&
    word
      .slice(1)
      .split("")
      .every((letter) => switches.includes(`-${letter}`))
  );
}

/** Returns the flag of a word with an attached value, as in `-eNAME=value`. */
function attachedValue(word: string, { values }: FlagRules): Flag | undefined {
  const name = word.slice(0, 2);
  if (word.startsWith("--") || word.length === 2 || !values.includes(name)) return undefined;
  return { name, value: word.slice(2), words: [word] };
}

export function wordsOf(flags: readonly Flag[]): readonly string[] {
  return flags.flatMap(({ words }) => words);
}

export function valuesOf(flags: readonly Flag[], ...names: readonly string[]): readonly string[] {
  return flags.flatMap(({ name, value }) => (value !== undefined && names.includes(name) ? [value] : []));
}

export function without(flags: readonly Flag[], ...names: readonly string[]): readonly Flag[] {
  return flags.filter(({ name }) => !names.includes(name));
}
