/** What a name of a matrix says: `A_m0` is the likelihood of modality 0, `B_f1` the transitions of factor 1. */
export interface FamilyName {
  readonly letter: "A" | "B" | "C" | "D" | "E";
  /** Behind the letter: `_m0`, `_level2`. */
  readonly suffix: string;
}

const DISCRETE = /^([ABCDE])((?:_(?:m|f|c|level|agent)?\d+|_t)*)$/;
const LINEAR_GAUSSIAN = new Set(["F", "H", "Q", "R", "prior_mean", "prior_cov"]);

/** The family of discrete models that a name belongs to. */
export function familyOf(name: string): FamilyName | undefined {
  const [, letter, suffix] = DISCRETE.exec(name) ?? [];
  return letter === undefined ? undefined : { letter: letter as FamilyName["letter"], suffix: suffix! };
}

/** Whether the values make up a linear-Gaussian model: F, H, Q and R, or a prior mean with its covariance. */
export function isLinearGaussian(names: ReadonlySet<string>): boolean {
  const hasAll = (...wanted: readonly string[]): boolean => wanted.every((name) => names.has(name));
  return hasAll("F", "H", "Q", "R") || hasAll("prior_mean", "prior_cov");
}

export function isLinearGaussianName(name: string): boolean {
  return LINEAR_GAUSSIAN.has(name);
}
