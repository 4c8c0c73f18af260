import { basename, extname } from "node:path";
import { languageCode } from "../search/language-codes.ts";
import { languageOf } from "../search/languages.ts";
import type { FoundMetadata } from "./block.ts";
import { visibleLine } from "./visible-text.ts";

export interface Metadata extends FoundMetadata {
  readonly title: string;
  /** Origin of each value. */
  readonly origins: Readonly<Record<string, string>>;
}

/** Matches `Peirce - How to Make Our Ideas Clear (1878).pdf`: author, title and year. */
// oxlint-disable-next-line toolyard/slow-pattern -- One line of a file name, at most MAX_LINE.
const FILE_NAME = /^(?:(?<author>[^-–—_]{2,80}?)\s+[-–—]\s+)?(?<title>.+?)(?:\s*\((?<year>1[0-9]{3}|20[0-9]{2})\))?$/u;
const EARLIEST_YEAR = -3000;
const LATEST_YEAR = 2200;

/** Takes each value from the most reliable place: caller, file metadata, first heading, file name. */
export function mergeMetadata(
  found: readonly (readonly [origin: string, FoundMetadata])[],
  { path, text }: { readonly path: string; readonly text: string },
): Metadata {
  const origins: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  for (const [origin, metadata] of [...found, ["file name", fromName(path)] as const])
    for (const [key, value] of Object.entries(metadata)) {
      if (value === undefined || Object.hasOwn(values, key)) continue;
      const usable = usableOf(key, value);
      if (usable === undefined || usable === "") continue;
      values[key] = usable;
      origins[key] = origin;
    }
  if (values["language"] === undefined) {
    const language = languageOf(text);
    if (language !== undefined) {
      values["language"] = language;
      origins["language"] = "text";
    }
  }
  return {
    ...(values as FoundMetadata),
    title: String(values["title"] ?? (visibleLine(basename(path)) || "document")),
    origins,
  };
}

function usableOf(key: string, value: unknown): unknown {
  if (key === "language") return languageCode(String(value));
  if (key === "year") return yearOf(value);
  return typeof value === "string" ? visibleLine(value) : value;
}

function yearOf(value: unknown): number | undefined {
  const year = Number(value);
  return Number.isInteger(year) && year >= EARLIEST_YEAR && year <= LATEST_YEAR ? year : undefined;
}

function fromName(path: string): FoundMetadata {
  const stem = visibleLine(basename(path, extname(path)).replaceAll("_", " "));
  const { author, title, year } = FILE_NAME.exec(stem)?.groups ?? {};
  return {
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(year !== undefined && { year: Number(year) }),
  };
}
