import type { AssembledDocument, TextPart } from "./assemble.ts";
import { Sentences } from "./sentences.ts";

export interface ChunkBounds {
  /** Minimum length in characters; a shorter chunk is joined with its neighbour of the same section. */
  readonly min: number;
  readonly max: number;
}

export interface Piece {
  readonly section: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Maximum length of a table or listing that is kept in one chunk, in characters. */
const MAX_WHOLE = 2_000;
/** Share of the maximum length that a chunk should reach. */
const TARGET = 0.75;

/**
 * Divides a document into chunks: whole paragraphs of one section together, and long paragraphs at the ends of
 * sentences or else between words. Chunks are consecutive, do not overlap, and never span two sections.
 */
export function chunksOf(document: AssembledDocument, bounds: ChunkBounds, language = "en"): Piece[] {
  const sentences = new Sentences(language);
  const sections: Piece[][] = [];
  let open: Piece[][] = [];
  let heading: number | undefined;
  const close = (): void => {
    sections.push(packed(open.flat(), bounds));
    open = [];
  };
  for (const part of document.parts) {
    if (part.heading !== heading) close();
    heading = part.heading;
    open.push(divided(part, document.text, { bounds, sentences }));
  }
  close();
  return sections.flat();
}

interface Rules {
  readonly bounds: ChunkBounds;
  readonly sentences: Sentences;
}

/** Divides a part into pieces that are not longer than the limit. */
function divided({ section, kind, from, to }: TextPart, text: string, { bounds, sentences }: Rules): Piece[] {
  const whole = { section, from, to };
  if (to - from <= (kind === "paragraph" ? bounds.max : Math.max(MAX_WHOLE, bounds.max))) return [whole];
  const own = text.slice(from, to);
  const ends =
    kind === "paragraph" ? sentences.endsIn(own) : Array.from(own.matchAll(/\n|$/g), ({ index }) => index + 1);
  const cuts = ends.flatMap((end, at) => cutsBetween(own, { from: ends[at - 1] ?? 0, to: end }, bounds.max));
  return cuts.map(({ from: start, to: end }) => trimmed(text, section, { from: from + start, to: from + end }));
}

/** Returns the sentences of a range. A sentence that is too long is divided into words. */
function cutsBetween(text: string, { from, to }: { from: number; to: number }, max: number) {
  const cuts: { from: number; to: number }[] = [];
  let start = from;
  while (to - start > max) {
    const space = text.lastIndexOf(" ", start + max);
    const end = space > start ? space + 1 : start + max;
    cuts.push({ from: start, to: end });
    start = end;
  }
  return [...cuts, { from: start, to }];
}

function trimmed(text: string, section: readonly string[], { from, to }: { from: number; to: number }): Piece {
  const own = text.slice(from, to);
  const start = from + (own.length - own.trimStart().length);
  return { section, from: start, to: start + own.trim().length };
}

/** Joins consecutive pieces while they fit into a chunk. A short remainder is joined with the chunk before it. */
function packed(pieces: readonly Piece[], { min, max }: ChunkBounds): Piece[] {
  const chunks: Piece[] = [];
  for (const piece of pieces) {
    if (piece.to === piece.from) continue;
    const last = chunks.at(-1);
    const joint = last && piece.to - last.from;
    const isWanted =
      last && (last.to - last.from < max * TARGET || last.to - last.from < min || piece.to - piece.from < min);
    if (last && joint !== undefined && joint <= max && isWanted) chunks[chunks.length - 1] = { ...last, to: piece.to };
    else chunks.push(piece);
  }
  return chunks;
}
