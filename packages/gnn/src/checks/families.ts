/** Parsed name of a matrix: `A_m0` is the likelihood of modality 0, `B_f1` the transitions of factor 1. */
export interface FamilyName {
  readonly letter: "A" | "B" | "C" | "D" | "E";
  /** Text after the letter: `_m0`, `_level2`. */
  readonly suffix: string;
}

const DISCRETE = /^([ABCDE])((?:_(?:m|f|c|level|agent)?\d+|_t)*)$/;
/** Tests the first two characters, which exclude most names of a large model. */
function mayBeFamily(name: string): boolean {
  const code = name.charCodeAt(0);
  return code >= 65 && code <= 69 && (name.length === 1 || name.charCodeAt(1) === 95);
}

const LINEAR_GAUSSIAN = new Set(["F", "H", "Q", "R", "prior_mean", "prior_cov"]);

/** Returns the family of discrete models to which a name belongs. */
export function familyOf(name: string): FamilyName | undefined {
  if (!mayBeFamily(name)) return undefined;
  const [, letter, suffix] = DISCRETE.exec(name) ?? [];
  return letter === undefined ? undefined : { letter: letter as FamilyName["letter"], suffix: suffix! };
}

/** Names with a word instead of a number: `B_place`, `A_agent1_reward`. */
const WORDED = /^([ABCD])((?:_(?:level|agent)\d{1,6})?)_(\p{L}[\p{L}\p{M}\p{N}_]*)$/u;

/**
 * Returns the families of a model's names. If no likelihood has a number, words name modalities (`A_reward`). If
 * neither transitions nor priors have a number, words name factors (`B_place`, `D_place`).
 */
export function familiesOf(names: Iterable<string>): ReadonlyMap<string, FamilyName> {
  const families = new Map<string, FamilyName>();
  const worded = new Map<string, FamilyName>();
  for (const name of names) {
    if (!mayBeFamily(name)) continue;
    const family = familyOf(name);
    const [, letter, instance, word] = WORDED.exec(name) ?? [];
    if (family) families.set(name, family);
    else if (letter !== undefined && word !== "t")
      worded.set(name, { letter: letter as FamilyName["letter"], suffix: `${instance}_${word}` });
  }
  const [numbered, words] = [lettersOf(families), lettersOf(worded)];
  for (const [name, family] of worded) {
    const isAlone = family.letter === "D" && words.has("B") && !worded.has(`B${family.suffix}`);
    if (!isAlone && isMeant(family, numbered, words)) families.set(name, family);
  }
  return families;
}

function lettersOf(families: ReadonlyMap<string, FamilyName>): ReadonlySet<string> {
  return new Set([...families.values()].map(({ letter }) => letter));
}

/** Returns whether a word names a modality or a factor, instead of another quantity of the model. */
function isMeant({ letter }: FamilyName, numbered: ReadonlySet<string>, words: ReadonlySet<string>): boolean {
  if (letter === "A" || letter === "C") return !numbered.has("A") && words.has("A");
  return !numbered.has("B") && !numbered.has("D") && (numbered.has("A") || words.has("A"));
}

/** Returns whether the values form a linear-Gaussian model: F, H, Q and R, or a prior mean with its covariance. */
export function isLinearGaussian(names: { has(name: string): boolean }): boolean {
  const hasAll = (...wanted: readonly string[]): boolean => wanted.every((name) => names.has(name));
  return hasAll("F", "H", "Q", "R") || hasAll("prior_mean", "prior_cov");
}

export function isLinearGaussianName(name: string): boolean {
  return LINEAR_GAUSSIAN.has(name);
}
