import { signal } from "@preact/signals";
import { EN } from "./en.ts";

export type TextKey = keyof typeof EN;
export type Texts = Readonly<Record<TextKey, string>>;

export const LANGUAGES = ["en", "de", "fr"] as const;
export type Language = (typeof LANGUAGES)[number];

const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: () => Promise.resolve(EN),
  de: async () => (await import("./de.ts")).DE,
  fr: async () => (await import("./fr.ts")).FR,
};
const STORED = "toolyard-console-language";

const texts = signal<Texts>(EN);
export const language = signal<Language>("en");

export async function useLanguage(wanted: Language): Promise<void> {
  texts.value = await LOADERS[wanted]();
  language.value = wanted;
  document.documentElement.lang = wanted;
}

export async function useOwnLanguage(): Promise<void> {
  const stored = localStorage.getItem(STORED);
  const own = [stored, ...navigator.languages].map((one) => LANGUAGES.find((known) => one?.startsWith(known)));
  await useLanguage(own.find((one) => one !== undefined) ?? "en");
}

export function chooseLanguage(wanted: Language): void {
  localStorage.setItem(STORED, wanted);
  void useLanguage(wanted);
}

/** Returns the text of a key, with `{name}` replaced by values. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  const text = texts.value[key];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? format(values[name]!) : whole));
}

function format(value: string | number): string {
  return typeof value === "number" ? formatNumber(value) : value;
}

type NumberStyle = Intl.NumberFormatOptions;
type DateStyle = Intl.DateTimeFormatOptions;

/** Formatters by language and style. A formatter takes far longer to create than to use. */
const numberFormats = new Map<string, Intl.NumberFormat>();
const dateFormats = new Map<string, Intl.DateTimeFormat>();

function numberFormat(style: NumberStyle): Intl.NumberFormat {
  const key = `${language.value} ${JSON.stringify(style)}`;
  let format = numberFormats.get(key);
  if (!format) numberFormats.set(key, (format = new Intl.NumberFormat(language.value, style)));
  return format;
}

function dateFormat(style: DateStyle): Intl.DateTimeFormat {
  const key = `${language.value} ${JSON.stringify(style)}`;
  let format = dateFormats.get(key);
  if (!format) dateFormats.set(key, (format = new Intl.DateTimeFormat(language.value, style)));
  return format;
}

export function formatNumber(value: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits }).format(value);
}

export function formatTime(iso: string): string {
  const style = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  return dateFormat(style).format(new Date(iso));
}

export function formatDate(iso: string): string {
  return dateFormat({ dateStyle: "medium", timeStyle: "medium" }).format(new Date(iso));
}

export function formatMs(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return "–";
  if (milliseconds < 1000) return `${formatNumber(milliseconds, milliseconds < 10 ? 1 : 0)} ms`;
  return `${formatNumber(milliseconds / 1000, 1)} s`;
}

export function formatAge(seconds: number): string {
  const unit = (value: number, name: "second" | "minute" | "hour" | "day"): string =>
    numberFormat({ style: "unit", unit: name, unitDisplay: "long" }).format(Math.floor(value));
  if (seconds < 120) return unit(seconds, "second");
  if (seconds < 7200) return unit(seconds / 60, "minute");
  return seconds < 172_800 ? unit(seconds / 3600, "hour") : unit(seconds / 86_400, "day");
}

export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const at = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
  // The short form of bytes has no plural.
  const unitDisplay = at === 0 ? "long" : "short";
  const style = { style: "unit", unit: units[at]!, unitDisplay, maximumFractionDigits: 1 } as const;
  return numberFormat(style).format(bytes / 1000 ** at);
}
