import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { dataFolder, OptionError } from "toolyard";
import { choiceOf, urlOf, type Environment } from "toolyard/service/environment";
import { rootsOf } from "toolyard/service/roots";
import type { OcrChoice } from "./documents/ocr/ocr.ts";
import type { HttpEmbedderOptions } from "./search/http-embedder.ts";
import type { MistralOcrOptions } from "./ingest/mistral-ocr.ts";
import { languageCode } from "./search/language-codes.ts";
import { inCollection, parseStore } from "./store/open-store.ts";

/** Settings of the library, from environment variables. */
export interface LibrarySettings {
  /** Address of the store. */
  readonly store: string;
  /** Folder of the jobs, the watch lease and the stored OCR pages. */
  readonly folder: string;
  readonly roots: readonly string[];
  readonly allowUrls: boolean;
  readonly watches: boolean;
  readonly ocr: OcrChoice;
  /** Embedding server that replaces the bundled table. */
  readonly embedder?: HttpEmbedderOptions;
  /** Settings of the Mistral service. Present if `ocr` selects it. */
  readonly mistral?: MistralOcrOptions;
}

/** Reads the settings. Throws an `OptionError` that names the variable. */
export function settingsOf(environment: Environment): LibrarySettings {
  const folder = join(dataFolder(environment), "library");
  const by = choiceOf(environment, "LIBRARY_OCR", { choices: ["off", "local", "mistral"], fallback: "off" });
  const mistral = by === "mistral" && mistralOf(environment, folder);
  return {
    store: libraryStore(environment),
    folder,
    roots: rootsOf(environment, "LIBRARY_ROOTS", "/home/me/books"),
    allowUrls: isOn(environment, "LIBRARY_ALLOW_URLS"),
    watches: isOn(environment, "LIBRARY_WATCH"),
    ocr: ocrOf(by, environment),
    ...(mistral && { mistral }),
    ...embedderOf(environment),
  };
}

function embedderOf(environment: Environment): Pick<LibrarySettings, "embedder"> {
  const { LIBRARY_EMBED_URL: url, LIBRARY_EMBED_MODEL: model, LIBRARY_EMBED_KEY: key } = environment;
  const headers = embedHeaders(environment["LIBRARY_EMBED_HEADERS"]);
  if (!url && !model) return {};
  if (!url || !model)
    throw new OptionError(
      "LIBRARY_EMBED_URL and LIBRARY_EMBED_MODEL must be set together, such as http://127.0.0.1:11434/v1 and " +
        `bge-m3, got only ${url ? "the address" : "the model"}.`,
    );
  const { href } = urlOf(environment, "LIBRARY_EMBED_URL", url);
  return { embedder: { url: href, model, ...(key && { key }), ...(headers && { headers }) } };
}

// The value may contain secrets, so the message does not repeat it.
function embedHeaders(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (!text) return undefined;
  const headers = parseJson(text);
  if (isRecordOfTexts(headers)) return headers;
  throw new OptionError('LIBRARY_EMBED_HEADERS must be a JSON object of texts, such as {"x-team": "history"}.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isRecordOfTexts(value: unknown): value is Readonly<Record<string, string>> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && Object.values(value).every((one) => typeof one === "string");
}

/**
 * Returns the store: `LIBRARY_STORE`, else the file in `LIBRARY_FILE`, else `WEAVIATE_URL`, else a file in the data
 * folder, each with the collection `LIBRARY_COLLECTION`. Throws an `OptionError` for an invalid address or a path that
 * is not absolute.
 */
export function libraryStore(environment: Environment): string {
  const { LIBRARY_COLLECTION: collection } = environment;
  const store = storeOf(environment);
  return collection ? inCollection(store, collection) : store;
}

function storeOf(environment: Environment): string {
  const { LIBRARY_STORE: store, LIBRARY_FILE: file, WEAVIATE_URL: weaviate } = environment;
  const address = store || (!file && weaviate && `weaviate+${weaviate}`);
  if (address) {
    parseStore(address);
    return address;
  }
  const path = file || join(dataFolder(environment), "library", "library.db");
  if (isAbsolute(path)) return `sqlite://${pathToFileURL(path).pathname}`;
  throw new OptionError(
    `LIBRARY_FILE must be an absolute path, such as /home/me/library.db, got ${JSON.stringify(path)}.`,
  );
}

function isOn(environment: Environment, name: string): boolean {
  return choiceOf(environment, name, { choices: ["true", "false"], fallback: "false" }) === "true";
}

function ocrOf(by: OcrChoice["by"], environment: Environment): OcrChoice {
  const given = environment["LIBRARY_OCR_LANGUAGES"] || "en,fr";
  const languages = given.split(",").map((one) => languageCode(one.trim()));
  const data = environment["LIBRARY_OCR_DATA"];
  const shown = JSON.stringify(given);
  if (languages.includes(undefined) || languages.length > 10)
    throw new OptionError(
      `LIBRARY_OCR_LANGUAGES must be codes of languages with commas between, such as en,fr, got ${shown}.`,
    );
  if (data && !isAbsolute(data))
    throw new OptionError(`LIBRARY_OCR_DATA must be an absolute path, got ${JSON.stringify(data)}.`);
  const when = choiceOf(environment, "LIBRARY_OCR_WHEN", { choices: ["auto", "force"], fallback: "auto" });
  return { by, when, languages: languages.filter((one) => one !== undefined), ...(data && { data }) };
}

function mistralOf(environment: Environment, folder: string): MistralOcrOptions | undefined {
  const key = environment["MISTRAL_API_KEY"];
  const price = environment["LIBRARY_OCR_PRICE"] || "0.001";
  if (!/^\d{1,4}(\.\d{1,6})?$/.test(price))
    throw new OptionError(
      `LIBRARY_OCR_PRICE must be the price of a page, such as 0.001, got ${JSON.stringify(price)}.`,
    );
  // Without the key the library works, but cannot read scans.
  if (!key) return undefined;
  const model = environment["LIBRARY_OCR_MODEL"];
  return {
    url: urlOf(environment, "LIBRARY_MISTRAL_URL", "https://api.mistral.ai").href,
    key,
    price: Number(price),
    cache: join(folder, "ocr"),
    ...(model && { model }),
  };
}
