/** Weight of a word by the text that contains it, and the usual length of such a text. */
export interface Field {
  readonly weight: number;
  /** Informative words in a usual text of this kind; longer texts count each word for less. */
  readonly usualLength: number;
  /** Effect of the length, from 0 to 1. */
  readonly lengthEffect: number;
}

/**
 * All tuned constants of the order of hits. `bench/search/run.mjs` measures it; `bench/README.md` lists other attempts.
 */
export interface Ranking {
  readonly fields: Readonly<
    Record<"name" | "server" | "keywords" | "description" | "parameterNames" | "parameterTexts", Field>
  >;
  /** A description starts with what the tool does, followed by conditions and examples. */
  readonly leadWords: number;
  readonly leadWeight: number;
  /** Controls how soon further occurrences of a word stop to count. */
  readonly saturation: number;
  /** Weight of a word's presence relative to its frequency (BM25+). */
  readonly presence: number;
  /** Weight of a synonym relative to the word itself. */
  readonly synonym: number;
  /** Bonus for two query words that are adjacent in the description too. */
  readonly neighbours: number;
  /** Bonus for a name that the query covers over one with other words in it. */
  readonly nameCover: number;
  /**
   * Contribution of a server's best tools to each of its tools: a server with several matching tools is the likely one.
   */
  readonly serverShare: number;
  /** Number of tools that contribute to their server. */
  readonly serverTools: number;
  /** Bonus for a word that distinguishes a tool from the others of its server. */
  readonly siblings: number;
  /** Weight of similarity relative to the words of the best tool. */
  readonly likeness: number;
  /** Weight of the words of the nearest tools of other servers. */
  readonly kinShare: number;
  /** Like `serverShare`, with similarity. */
  readonly blendServerShare: number;
}

/** Each value is on a plateau: a third more or less changes the benchmark by less than one point. */
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
