import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { importExtra, missingExtra, resolveExtra } from "toolyard/extras";
import { LONG_CODES } from "../../search/language-codes.ts";
import type { Block, PageReader } from "../block.ts";
import { DocumentError } from "../document-error.ts";
import { MAX_PIXELS, type OcrChoice, type PagePicture } from "./ocr.ts";

interface EngineModule {
  createOCREngine(options: { wasmBinary: Uint8Array }): Promise<TesseractEngine>;
  supportsFastBuild(): boolean;
}

interface TesseractEngine {
  loadModel(model: Uint8Array): void;
  loadImage(image: PagePicture): void;
  clearImage(): void;
  getText(): string;
  getTextBoxes(unit: "line"): readonly { readonly confidence: number }[];
  destroy(): void;
}

const PURPOSE = "reading pictures of text on this machine";
/** Pages that one engine reads before it is replaced: the engine frees its memory only when it is closed. */
const PAGES_OF_AN_ENGINE = 50;

/** Reads page images locally with Tesseract, compiled to WebAssembly. Rejects with `OCR_UNAVAILABLE`. */
export function localPageReader(
  choice: OcrChoice,
  language: string | undefined,
  onPage: (done: number, total: number) => void,
): PageReader {
  return {
    async read(pages, pictureOf) {
      const models = await modelsOf(choice, language);
      const found: Block[][] = [];
      let engine: TesseractEngine | undefined;
      let best = models.length === 1 ? models[0] : undefined;
      try {
        for (const [at, page] of pages.entries()) {
          onPage(at, pages.length);
          const picture = await pictureOf(page);
          if (!picture) {
            found.push([]);
            continue;
          }
          if (picture.width * picture.height > MAX_PIXELS)
            throw new DocumentError("TOO_LARGE", `The image of page ${page} has more than ${MAX_PIXELS} pixels.`);
          if (!engine || at % PAGES_OF_AN_ENGINE === 0) {
            engine?.destroy();
            engine = await createEngine();
            if (best) engine.loadModel(best);
          }
          best ??= bestOf(models, picture, engine);
          found.push(blocksOf(textOf(picture, engine), page));
        }
      } finally {
        engine?.destroy();
      }
      return found;
    },
  };
}

function textOf(picture: PagePicture, engine: TesseractEngine): string {
  engine.loadImage(picture);
  const text = engine.getText();
  engine.clearImage();
  return text;
}

/** Returns the language model with the highest confidence for this page. */
function bestOf(models: readonly Uint8Array[], picture: PagePicture, engine: TesseractEngine): Uint8Array {
  const judged = models.map((model) => {
    engine.loadModel(model);
    engine.loadImage(picture);
    const lines = engine.getTextBoxes("line");
    engine.clearImage();
    return { model, sureness: lines.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(lines.length, 1) };
  });
  const { model } = judged.reduce((one, other) => (other.sureness > one.sureness ? other : one));
  engine.loadModel(model);
  return model;
}

/** Divides text into paragraphs at empty lines, and joins words that were divided at the end of a line. */
function blocksOf(text: string, page: number): Block[] {
  return text
    .split(/\n[^\S\n]*\n+/)
    .map((paragraph) =>
      paragraph
        .replaceAll(/(\p{L})[-‐]\n(?=\p{Ll})/gu, "$1")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .filter((paragraph) => /[\p{L}\p{N}]/u.test(paragraph))
    .map((paragraph) => ({ kind: "paragraph", text: paragraph, page }));
}

async function createEngine(): Promise<TesseractEngine> {
  const place = resolveExtra("ocr", "tesseract-wasm");
  if (place === undefined) throw new DocumentError("OCR_UNAVAILABLE", missingExtra("ocr", PURPOSE));
  const { createOCREngine, supportsFastBuild } = await importExtra<EngineModule>("ocr", "tesseract-wasm");
  const build = supportsFastBuild() ? "tesseract-core.wasm" : "tesseract-core-fallback.wasm";
  return createOCREngine({ wasmBinary: await readFile(join(dirname(place), build)) });
}

/** Loads the models of the document's language if it is known, else the configured languages that are installed. */
async function modelsOf({ data, languages }: OcrChoice, language: string | undefined): Promise<Uint8Array[]> {
  if (resolveExtra("ocr", "tesseract-wasm") === undefined)
    throw new DocumentError("OCR_UNAVAILABLE", missingExtra("ocr", PURPOSE));
  const wanted = language === undefined ? languages : [language];
  const codes = wanted.map((one) => LONG_CODES[one] ?? one);
  const places = codes.flatMap((code) => modelPlace(code, data) ?? []);
  if (places.length === 0) {
    const [code = "eng"] = codes;
    throw new DocumentError(
      "OCR_UNAVAILABLE",
      `There is no OCR data for the languages ${JSON.stringify(wanted.join(", "))}. ` +
        `Set \`ocr_data\` to a folder with ${code}.traineddata or ${code}.traineddata.gz.`,
    );
  }
  return Promise.all(places.map(readModel));
}

function modelPlace(code: string, data: string | undefined): string | undefined {
  if (!/^[a-z_]{2,12}$/.test(code)) return undefined;
  const home = resolveExtra("ocr", `@tesseract.js-data/${code}/package.json`);
  const places = [
    ...(data === undefined ? [] : [join(data, `${code}.traineddata`), join(data, `${code}.traineddata.gz`)]),
    ...(home === undefined
      ? []
      : ["4.0.0_best_int", "4.0.0"].map((version) => join(dirname(home), version, `${code}.traineddata.gz`))),
  ];
  return places.find((place) => existsSync(place));
}

const MAX_MODEL = 200_000_000;

async function readModel(place: string): Promise<Uint8Array> {
  const bytes = await readFile(place);
  return place.endsWith(".gz") ? gunzipSync(bytes, { maxOutputLength: MAX_MODEL }) : bytes;
}
