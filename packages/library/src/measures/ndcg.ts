/** A question with relevance judgements. */
export interface JudgedQuestion {
  readonly text: string;
  /** Relevance by document id; 0 or less means not relevant. */
  readonly gains: ReadonlyMap<string, number>;
}

const DEPTH = 10;

/** Returns the mean normalised discounted cumulative gain (nDCG) of the first ten results. */
export function ndcgAt10(questions: readonly JudgedQuestion[], lists: readonly (readonly string[])[]): number {
  return mean(
    questions.map(({ gains }, at) => {
      const best = gainOf(Array.from(gains.values()).toSorted((one, other) => other - one));
      return best === 0 ? undefined : gainOf(lists[at]!.map((id) => gains.get(id) ?? 0)) / best;
    }),
  );
}

/**
 * Returns the mean share of the relevant documents that are among the first ten results. If a question has more than
 * ten relevant documents, the share is relative to ten.
 */
export function recallAt10(questions: readonly JudgedQuestion[], lists: readonly (readonly string[])[]): number {
  return mean(
    questions.map(({ gains }, at) => {
      const answers = Array.from(gains).filter(([, gain]) => gain > 0);
      const found = lists[at]!.slice(0, DEPTH).filter((id) => (gains.get(id) ?? 0) > 0).length;
      return answers.length === 0 ? undefined : found / Math.min(answers.length, DEPTH);
    }),
  );
}

function gainOf(gains: readonly number[]): number {
  return gains.slice(0, DEPTH).reduce((sum, gain, at) => sum + Math.max(gain, 0) / Math.log2(at + 2), 0);
}

/** Returns the mean of the questions that have a relevant document. */
function mean(values: readonly (number | undefined)[]): number {
  const told = values.filter((value) => value !== undefined);
  return told.length === 0 ? 0 : told.reduce((sum, value) => sum + value, 0) / told.length;
}
