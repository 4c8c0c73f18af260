/** A question, and how much each document that answers it is worth. */
export interface Judged {
  readonly text: string;
  /** By the document's id; 0 and below is no answer. */
  readonly gains: ReadonlyMap<string, number>;
}

const DEPTH = 10;

/** Discounted cumulative gain of the first ten, as a share of the best that there is; the mean of all questions. */
export function ndcgAt10(questions: readonly Judged[], lists: readonly (readonly string[])[]): number {
  return mean(
    questions.map(({ gains }, at) => {
      const best = gainOf(Array.from(gains.values()).toSorted((one, other) => other - one));
      return best === 0 ? undefined : gainOf(lists[at]!.map((id) => gains.get(id) ?? 0)) / best;
    }),
  );
}

/** The share of the answers that stand among the first ten, or in so many places as there are; the mean of all. */
export function recallAt10(questions: readonly Judged[], lists: readonly (readonly string[])[]): number {
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

/** Of questions that have an answer. */
function mean(values: readonly (number | undefined)[]): number {
  const told = values.filter((value) => value !== undefined);
  return told.length === 0 ? 0 : told.reduce((sum, value) => sum + value, 0) / told.length;
}
