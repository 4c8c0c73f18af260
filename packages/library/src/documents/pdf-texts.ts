import { withPage, type Pdf, type PdfFile, type PdfPage } from "./pdf-file.ts";
import { visibilityOfPage, visibleTexts, type PageVisibility } from "./pdf-hidden.ts";
import type { PageLines, TextRun } from "./pdf-lines.ts";
import type { Point } from "./pdf-matrix.ts";
import type { PaintFont } from "./pdf-graphics.ts";
import { PaintWalk, type Operators } from "./pdf-paint.ts";
import { contentsOf, type PageView } from "./pdf-pictures.ts";

/** Minimum number of characters of a page with text. A page with an image and fewer characters is a scan. */
const MIN_SIGNS = 20;
/** Number of pages with a text layer whose pictures are examined. The other pages of a scan are like them. */
const MAX_SAMPLED = 5;
const SET_FONT = 37;
const MARKED_CONTENT = 70;
const SET_STATE = 9;

export interface TextOptions {
  readonly signal: AbortSignal;
  readonly onPage?: ((done: number, total: number) => void) | undefined;
}

/** A page with its texts, as far as they are known without its pictures. */
interface PageDraft {
  readonly number: number;
  readonly view: PageView;
  readonly runs: readonly TextRun[];
  /** Places of the runs in the page's own coordinates. */
  readonly places: ReadonlyMap<TextRun, Point>;
  /** Hidden texts that pictures may show: the text layer of a scan (`layer`), or other texts (`some`). */
  readonly suspect?: "layer" | "some";
  readonly hasHiddenText: boolean;
  readonly hasDoubledText: boolean;
  readonly hasUncheckedText: boolean;
}

/** Reads the texts of all pages, without those that a page shows to no reader. */
export async function readTexts(file: PdfFile, { signal, onPage }: TextOptions): Promise<PageLines[]> {
  const { texts } = file;
  const drafts: PageDraft[] = [];
  for (let number = 1; number <= texts.numPages; number += 1) {
    signal.throwIfAborted();
    drafts.push(await withPage(texts, number, (page) => draftOf(page, number, texts)));
    onPage?.(number, texts.numPages);
  }
  const pages: PageLines[] = [];
  for (const draft of await withoutHiddenTexts(file, drafts, signal)) pages.push(await pageOf(file, draft));
  return pages;
}

async function draftOf(page: PdfPage, number: number, pdf: Pdf): Promise<PageDraft> {
  const [{ items }, view] = [await page.getTextContent(), page.getViewport({ scale: 1 })];
  const places = new Map(items.flatMap((item) => runOf(item, view)));
  const visibility = await visibilityOf(page, pdf);
  const { suspects, hasOutside, hasDoubled, hasUnchecked: hasUncheckedText } = visibility;
  const found = { hasHiddenText: false, hasDoubledText: false, hasUncheckedText };
  const draft = { number, view, places, runs: Array.from(places.keys()), ...found };
  if (suspects === 0) return hasOutside || hasDoubled ? shownDraft(draft, visibility) : draft;
  return { ...draft, suspect: visibility.isLayer ? "layer" : "some" };
}

function shownDraft({ suspect: _known, ...draft }: PageDraft, visibility: PageVisibility): PageDraft {
  const { texts, isOmitted } = visibleTexts(draft.runs, visibility, (run) => draft.places.get(run)!);
  const { hasDoubled: hasDoubledText, hasUnchecked: hasUncheckedText } = visibility;
  return { ...draft, runs: texts, hasHiddenText: isOmitted, hasDoubledText, hasUncheckedText };
}

/** Examines suspect pages again with their pictures, which can be the background of a text, or a scan of it. */
async function withoutHiddenTexts(file: PdfFile, drafts: readonly PageDraft[], signal: AbortSignal) {
  const examined = new Map<number, PageDraft>();
  const examine = async (draft: PageDraft): Promise<PageDraft> => {
    signal.throwIfAborted();
    const known = examined.get(draft.number);
    if (known) return known;
    const pdf = await file.pictures();
    const visibility = await withPage(pdf, draft.number, (page) => visibilityOf(page, pdf));
    const shown = shownDraft(draft, visibility);
    examined.set(draft.number, shown);
    return shown;
  };
  for (const draft of drafts) if (draft.suspect === "some") await examine(draft);
  const layers = drafts.filter(({ suspect }) => suspect === "layer");
  const step = Math.max(1, Math.floor(layers.length / MAX_SAMPLED));
  let isScan = true;
  for (const draft of layers.filter((_, at) => at % step === 0))
    isScan = !(await examine(draft)).hasHiddenText && isScan;
  if (!isScan) for (const draft of layers) await examine(draft);
  return drafts.map((draft) => examined.get(draft.number) ?? draft);
}

/** Returns the visibility of a page's texts, from its drawing operators. */
async function visibilityOf(page: PdfPage, pdf: Pdf): Promise<PageVisibility> {
  const operators = await page.getOperatorList();
  const fonts = await fontsOf(page, operators);
  const layers = operators.fnArray.includes(MARKED_CONTENT) ? await pdf.getOptionalContentConfig() : undefined;
  const [left = 0, bottom = 0, right = 0, top = 0] = page.view;
  const view = { left, bottom, right, top };
  const isShown = (layer: unknown): boolean => layers?.isVisible(layer) !== false;
  return visibilityOfPage(new PaintWalk({ view, font: (name) => fonts.get(name), isShown }).walk(operators), view);
}

async function fontsOf(page: PdfPage, { fnArray, argsArray }: Operators): Promise<ReadonlyMap<string, PaintFont>> {
  const names = new Set<string>();
  for (const [at, operator] of fnArray.entries()) {
    if (operator === SET_FONT) names.add(String(argsArray[at]?.[0]));
    if (operator !== SET_STATE) continue;
    for (const [key, value] of (argsArray[at]?.[0] ?? []) as readonly (readonly [string, unknown])[])
      if (key === "Font") names.add(String((value as readonly unknown[])[0]));
  }
  const fonts = Array.from(names, async (name) => {
    const font = await new Promise<unknown>((done) => page.commonObjs.get(name, done));
    return [name, (font ?? {}) as PaintFont] as const;
  });
  return new Map(await Promise.all(fonts));
}

async function pageOf(file: PdfFile, { number, view, runs: texts, ...found }: PageDraft): Promise<PageLines> {
  const signs = texts.reduce((sum, { text }) => sum + text.trim().length, 0);
  const contents = signs < MIN_SIGNS ? await withPage(await file.pictures(), number, contentsOf) : undefined;
  const { hasHiddenText, hasDoubledText, hasUncheckedText } = found;
  const isUndecoded = signs === 0 && !hasHiddenText && contents?.text === true;
  const isScan = contents?.picture === true;
  const findings = { isScan, isUndecoded, hasHiddenText, hasDoubledText, hasUncheckedText };
  return { texts, width: view.width, height: view.height, ...findings };
}

/**
 * Converts an item of pdf.js into a run with its place in the page's own coordinates. The run has the page's rotation
 * and origin, so that its position is as displayed.
 */
function runOf(item: object, { transform: view }: PageView): (readonly [TextRun, Point])[] {
  const { str, transform, width, hasEOL } = item as {
    readonly str?: string;
    readonly transform?: readonly number[];
    readonly width?: number;
    readonly hasEOL?: boolean;
  };
  if (str === undefined || transform === undefined) return [];
  const [a, b, c, d, e, f] = view as [number, number, number, number, number, number];
  const [x, y] = [transform[4]!, transform[5]!];
  const size = Math.hypot(transform[2]!, transform[3]!);
  const place = { x: a * x + c * y + e, y: b * x + d * y + f };
  return [
    [
      { text: str, ...place, size, width: width ?? 0, endsLine: hasEOL === true },
      { x, y },
    ],
  ];
}
