import type { FoundMetadata } from "./block.ts";

/** Maximum length of front matter, in characters. Longer text between the lines is not treated as front matter. */
const MAX_LENGTH = 64_000;
const FRONT_MATTER = /^\ufeff?---[^\S\n]*\n([\s\S]*?)\n---[^\S\n]*(?:\n|$)/;

export interface FrontMatter {
  /** Text after the front matter. */
  readonly body: string;
  readonly metadata: FoundMetadata;
  readonly warning?: string;
}

/** Reads the YAML between two lines `---` at the beginning of a text. */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const match = FRONT_MATTER.exec(text.slice(0, MAX_LENGTH));
  if (!match) return { body: text, metadata: {} };
  const body = text.slice(match[0].length);
  const { parse } = await import("yaml");
  try {
    const fields: unknown = parse(match[1]!, { maxAliasCount: 0 });
    return { body, metadata: metadataOf(fields) };
  } catch (error) {
    const [line = ""] = (error as Error).message.split("\n");
    return { body, metadata: {}, warning: `Its front matter is not YAML and was left out: ${line}` };
  }
}

function metadataOf(fields: unknown): FoundMetadata {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return {};
  const given = new Map(Object.entries(fields).map(([key, value]) => [key.toLowerCase(), value]));
  const text = (...names: string[]): string | undefined => {
    for (const name of names) {
      const value = given.get(name);
      const words = Array.isArray(value) ? value.filter((one) => typeof one === "string").join(", ") : value;
      if (typeof words === "string" && words.trim() !== "") return words.trim();
      if (typeof words === "number") return String(words);
    }
    return undefined;
  };
  const year = /\b(\d{4})\b/.exec(text("year", "date", "published") ?? dateText(given.get("date")))?.[1];
  return Object.fromEntries(
    Object.entries({
      title: text("title"),
      author: text("author", "authors", "creator"),
      language: text("language", "lang"),
      edition: text("edition"),
      work: text("work"),
      genre: text("genre"),
      year: year === undefined ? undefined : Number(year),
    }).filter(([, value]) => value !== undefined),
  );
}

function dateText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : "";
}
