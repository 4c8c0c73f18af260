import { isJsonObject, stringMember } from "../core/json/json.ts";
import { firstChars } from "../core/text/truncate.ts";
import { plainText } from "./html.ts";

/** One result of a web search. */
export interface WebHit {
  readonly title: string;
  /** URL of the page, http or https. */
  readonly link: string;
  /** Snippet in plain text; empty if the service returns none. */
  readonly snippet: string;
}

const MAX_TITLE_CHARS = 300;
const MAX_SNIPPET_CHARS = 1000;
const MAX_LINK_CHARS = 4096;

/** Names of the members in a service's JSON result. */
interface HitMembers {
  readonly title: string;
  readonly link: string;
  readonly snippet: string;
}

/** Reads hits from JSON results with texts that may contain markup. Omits results without a usable link. */
export async function readHits(results: readonly unknown[], members: HitMembers): Promise<readonly WebHit[]> {
  const hits = await Promise.all(
    results.filter(isJsonObject).map(async (one) => {
      const [title, snippet] = await Promise.all(
        [members.title, members.snippet].map((key) => plainText(stringMember(one, key) ?? "")),
      );
      return toHit(title!, stringMember(one, members.link) ?? "", snippet!);
    }),
  );
  return hits.filter((hit) => hit !== undefined);
}

/** Returns a hit in plain text; `undefined` if its link is unusable. */
export function toHit(title: string, link: string, snippet: string): WebHit | undefined {
  const url = link.length <= MAX_LINK_CHARS && URL.canParse(link) ? new URL(link) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return undefined;
  return { title: cut(title, MAX_TITLE_CHARS) || url.host, link: url.href, snippet: cut(snippet, MAX_SNIPPET_CHARS) };
}

function cut(text: string, maxChars: number): string {
  const line = firstChars(text, 4 * maxChars)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > maxChars ? `${firstChars(line, maxChars - 1).trimEnd()}…` : line;
}
