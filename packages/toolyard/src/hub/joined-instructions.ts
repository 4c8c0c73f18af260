import { truncate } from "../core/text/truncate.ts";
import { loneSource, type SourceOffer } from "./self-description.ts";

/** Maximum length of one source's text, so that it leaves room for the texts of other sources. */
const MAX_SOURCE_CHARS = 8_192;
/** Maximum length of all sections together. Further sections are omitted. */
const MAX_TOTAL_CHARS = 32_768;

/**
 * Returns the instructions of the sources as one text: those of a single source unchanged, those of several as one
 * section each. A section names its source and ends with a tag that no instructions can contain, so that no server can
 * write a section of another one.
 */
export function joinInstructions(sources: readonly SourceOffer[]): string | undefined {
  const given = sources.flatMap(({ source, listing }) => {
    const text = listing.instructions ?? "";
    return text.trim() === "" ? [] : [{ name: source.namespace || source.id, text }];
  });
  const [only] = given;
  if (only === undefined) return undefined;
  return loneSource(sources) ? only.text : joinSections(given);
}

interface ServerInstructions {
  readonly name: string;
  readonly text: string;
}

function joinSections(given: readonly ServerInstructions[]): string {
  let joined = "";
  for (const { name, text } of given) {
    const before = joined === "" ? "" : "\n\n";
    const empty = `${before}${section(name, "")}`.length;
    const room = Math.min(MAX_SOURCE_CHARS, MAX_TOTAL_CHARS - joined.length - empty);
    if (room > 0) joined += before + section(name, truncate(withoutTags(text), room));
  }
  return joined;
}

function section(name: string, text: string): string {
  return `<instructions source=${JSON.stringify(name)}>\n${text}\n</instructions>`;
}

/**
 * Start of text that a program or a model could read as a section's tag: in any case, with any number of blanks, and
 * with the full-width forms of `<` and `/` in Unicode.
 */
const TAG = /[<\ufe64\uff1c](?=[\s/\\\uff0f]*instructions)/gi;

function withoutTags(text: string): string {
  return text.replaceAll(TAG, "&lt;");
}
