/** Weight of the words of one text, such as the name, and the usual length of this text. */
export interface Field {
  readonly weight: number;
  /** Number of informative words in an average text of this field. In a longer text, each word counts less. */
  readonly usualLength: number;
  /** Influence of the text's length on the weight of a word, from 0 to 1. */
  readonly lengthEffect: number;
}

/**
 * All tuned constants of the order of hits. They are measured by `bench/search/run.mjs`; `bench/README.md` lists other
 * attempts.
 */
export interface Ranking {
  readonly fields: Readonly<
    Record<"name" | "server" | "keywords" | "description" | "parameterNames" | "parameterTexts", Field>
  >;
  /**
   * Number of words at the start of a description that have a higher weight, because a description starts with the
   * purpose of the tool.
   */
  readonly leadWords: number;
  readonly leadWeight: number;
  /** Saturation: the lower it is, the less further occurrences of a word count (BM25). */
  readonly saturation: number;
  /** Weight of the fact that a word occurs, relative to how often it occurs (BM25+). */
  readonly presence: number;
  /** Weight of a synonym relative to the word itself. */
  readonly synonym: number;
  /** Bonus for two query words that are adjacent in the description too. */
  readonly neighbours: number;
  /** Bonus for a tool whose name consists only of words of the query. */
  readonly nameCover: number;
  /**
   * Share of the scores of a server's best tools that is added to each tool of the server. A server with several
   * matching tools is likely the intended one.
   */
  readonly serverShare: number;
  /** Number of a server's best tools that count for `serverShare`. */
  readonly serverTools: number;
  /** Bonus for a word that distinguishes a tool from other tools of its server. */
  readonly siblings: number;
  /** Weight of similarity, relative to the word score of the best tool. */
  readonly likeness: number;
  /** Weight of the word scores of the nearest tools of other servers. */
  readonly kinShare: number;
  /** `serverShare` for scores that include similarity. */
  readonly blendServerShare: number;
}

/** Tuned values. Each is on a plateau: a third more or less changes the benchmark by less than one point. */
export const RANKING: Ranking = Object.freeze({
  fields: {
    name: { weight: 2.5, usualLength: 3, lengthEffect: 0.5 },
    server: { weight: 1.5, usualLength: 4, lengthEffect: 0.8 },
    keywords: { weight: 2.2, usualLength: 5, lengthEffect: 0.2 },
    description: { weight: 1, usualLength: 21, lengthEffect: 0.6 },
    parameterNames: { weight: 0.5, usualLength: 5, lengthEffect: 0.8 },
    parameterTexts: { weight: 0.4, usualLength: 16, lengthEffect: 0.6 },
  },
  leadWords: 12,
  leadWeight: 1.5,
  saturation: 1.2,
  presence: 0.2,
  synonym: 0.2,
  neighbours: 0.6,
  nameCover: 0.3,
  serverShare: 0.2,
  serverTools: 3,
  siblings: 0.1,
  likeness: 1,
  kinShare: 0.2,
  blendServerShare: 0.15,
});
