import type { StoredDocument } from "../store/store.ts";

/**
 * Returns the citation with author, title, year and page: «Charles Sanders Peirce, How to Make Our Ideas Clear (1878),
 * p. ii (3)».
 */
export function citationOf(
  { author, title, year, pageStarts }: StoredDocument,
  pages?: readonly [number, number],
): string {
  const named = author === undefined ? title : `${author}, ${title}`;
  const work = year === undefined ? named : `${named} (${year})`;
  if (!pages) return work;
  return `${work}, ${pageText({ pageStarts }, pages)}`;
}

/** Returns the pages in citation form: «p. ii (3)», «pp. 3–4». */
export function pageText({ pageStarts }: Pick<StoredDocument, "pageStarts">, pages: readonly [number, number]): string {
  const [from, to] = pages.map((page) => pageName(page, pageStarts[page - 1]?.label));
  return from === to ? `p. ${from}` : `pp. ${from}–${to}`;
}

/** Returns the printed page label, followed by the page number if it differs. */
function pageName(page: number, label: string | undefined): string {
  return label === undefined ? String(page) : `${label} (${page})`;
}

/** Returns a link that opens a PDF at the page of the passage. */
export function linkTo({ uri, mime }: StoredDocument, pages?: readonly [number, number]): string {
  return mime === "application/pdf" && pages ? `${uri}#page=${pages[0]}` : uri;
}
