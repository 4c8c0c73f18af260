import type { LibraryStore } from "../store/store.ts";
import { allDocuments } from "./documents.ts";

export interface Statistics {
  readonly documents: number;
  readonly passages: number;
  readonly summaries: number;
  readonly pages: number;
  readonly bytes: number;
  /** Documents by language; "" if it is unknown. */
  readonly languages: Readonly<Record<string, number>>;
  readonly authors: readonly Share[];
  /** Number by year, the oldest first. Documents without a year are not counted. */
  readonly years: readonly Share[];
}

export interface Share {
  readonly name: string;
  readonly documents: number;
  readonly pages: number;
  readonly passages: number;
}

/** Counts the documents and pages of a library, by language, author and year. */
export async function statisticsOf(store: LibraryStore): Promise<Statistics> {
  const authors = new Map<string, Share>();
  const years = new Map<string, Share>();
  const languages: Record<string, number> = {};
  let [documents, passages, summaries, pages, bytes] = [0, 0, 0, 0, 0];
  for (const document of await allDocuments(store)) {
    documents += 1;
    passages += document.chunks;
    summaries += document.summaries;
    pages += document.pages;
    bytes += document.bytes;
    const language = document.language ?? "";
    languages[language] = (languages[language] ?? 0) + 1;
    count(authors, document.author ?? "", document);
    if (document.year !== undefined) count(years, String(document.year), document);
  }
  return {
    documents,
    passages,
    summaries,
    pages,
    bytes,
    languages,
    authors: Array.from(authors.values()).toSorted(byExtent),
    years: Array.from(years.values()).toSorted((one, other) => Number(one.name) - Number(other.name)),
  };
}

function count(
  shares: Map<string, Share>,
  name: string,
  { pages, chunks }: { readonly pages: number; readonly chunks: number },
): void {
  const own = shares.get(name) ?? { name, documents: 0, pages: 0, passages: 0 };
  shares.set(name, {
    name,
    documents: own.documents + 1,
    pages: own.pages + pages,
    passages: own.passages + chunks,
  });
}

function byExtent(one: Share, other: Share): number {
  return other.pages - one.pages || other.passages - one.passages || (one.name < other.name ? -1 : 1);
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Returns the rows of a bar chart. The longest bar has `width` characters, and a value above 0 has at least one. */
export function bars(rows: readonly { readonly name: string; readonly value: number }[], width: number): string[] {
  const most = Math.max(...rows.map(({ value }) => value), 1);
  const name = Math.max(...rows.map((row) => Array.from(row.name).length), 0);
  return rows.map((row) => {
    const eighths = Math.max(row.value > 0 ? 1 : 0, Math.round((row.value / most) * width * 8));
    const bar = "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
    const label = row.name + " ".repeat(name - Array.from(row.name).length);
    return `${label}  ${bar} ${row.value}`;
  });
}
