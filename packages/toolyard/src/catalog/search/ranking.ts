/** How much a word says, by where it stands, and how long such a text usually is. */
export interface Field {
  readonly weight: number;
  /** Telling words in a usual text of this kind; longer texts count each word for less. */
  readonly usualLength: number;
  /** How much length matters, from 0 to 1. */
  readonly lengthEffect: number;
}

/**
 * All that is tuned about the order of hits. `bench/search/run.mjs` measures it, and what else was tried is in
 * `bench/README.md`.
 */
export interface Ranking {
  readonly fields: Readonly<
    Record<"name" | "server" | "keywords" | "description" | "parameterNames" | "parameterTexts", Field>
  >;
  /** A description begins with what the tool does; what follows are conditions and examples. */
  readonly leadWords: number;
  readonly leadWeight: number;
  /** How soon further occurrences of one word stop to matter. */
  readonly saturation: number;
  /** What a word counts for being there at all, as against how often (BM25+). */
  readonly presence: number;
  /** How much a synonym counts, as against the word itself. */
  readonly synonym: number;
  /** What two words of the query count more where they stand side by side in the description too. */
  readonly neighbours: number;
  /** How much a name that the query covers counts more than one with other words in it. */
  readonly nameCover: number;
  /**
   * How much the best tools of a server say of each of them: a server that answers in several tools is the one that is
   * meant.
   */
  readonly serverShare: number;
  /** How many tools speak for their server. */
  readonly serverTools: number;
  /** How much more a word counts that tells a tool from the others of its server. */
  readonly siblings: number;
  /** How much likeness to the query counts, beside the words of the best tool. */
  readonly likeness: number;
  /** How much the words of the nearest tools of other servers count. */
  readonly kinShare: number;
  /** The same as `serverShare`, with likeness. */
  readonly blendServerShare: number;
}

/** Each lies on a plateau: a third more or less of any of them changes the benchmark by less than one point. */
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
