import { outboundFailure, statusFailure } from "../outbound/failures.ts";
import { retryAfterMs, type OutboundResponse } from "../outbound/outbound-client.ts";
import type { Backend } from "./backend.ts";
import { parseHtml, type HtmlSink } from "./html.ts";
import type { WebSearchOptions } from "./options.ts";
import { toHit, type WebHit } from "./web-hit.ts";

const NAME = "DuckDuckGo";
const SAFE_SEARCH = { off: "-2", moderate: "-1", strict: "1" } as const;
/** Pause after a captcha, in milliseconds. Further requests would extend the lockout. */
const CAPTCHA_PAUSE_MS = 60_000;

/**
 * Adapter for DuckDuckGo's pages without scripts, `html` and `lite`. They accept the form of their own search box, and
 * return one page of about ten hits.
 */
export const DUCKDUCKGO: Backend = {
  name: NAME,
  request: (query, _count, { baseUrl, safeSearch }: WebSearchOptions) => ({
    url: baseUrl,
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      accept: "text/html",
      referer: `${baseUrl.origin}/`,
    },
    body: new URLSearchParams({ q: query, b: "", kl: "", kp: SAFE_SEARCH[safeSearch] }).toString(),
  }),
  read: readPage,
};

async function readPage(response: OutboundResponse): Promise<readonly WebHit[]> {
  const html = response.body.toString("utf8");
  // The status of a challenge page is usually 202, but sometimes 200, so the text is checked too.
  if (response.status === 202 || CHALLENGE.test(html)) {
    const what =
      "classifies this machine as a bot and requires a captcha. " +
      'Search less often, or set `web_search.backend` to "searxng" or "brave".';
    throw outboundFailure("limited", { service: NAME, what }, { retryAfterMs: CAPTCHA_PAUSE_MS });
  }
  if (response.status !== 200) throw statusFailure(NAME, response.status, retryAfterMs(response, Date.now()));
  const { hits, saysNone } = await readResults(html);
  if (hits.length === 0 && !saysNone)
    throw outboundFailure("malformed", {
      service: NAME,
      what: "returned a page without results that does not report none. Check `web_search.base_url`.",
    });
  return hits;
}

const CHALLENGE = /anomaly-modal|\/anomaly\.js|id="challenge-form"/;

interface Draft {
  title: string;
  readonly href: string;
  snippet: string;
}

interface Results {
  readonly hits: readonly WebHit[];
  /** True if the page states that there are no results. */
  readonly saysNone: boolean;
}

async function readResults(html: string): Promise<Results> {
  const reader = new ResultReader();
  await parseHtml(html, reader);
  const hits = reader.drafts.flatMap(({ title, href, snippet }) => hitOf(title, href, snippet) ?? []);
  return { hits, saysNone: reader.saysNone };
}

/**
 * Reads a page of results in one pass: a link starts a hit, and the next snippet belongs to it. Ignores advertisements.
 */
class ResultReader implements HtmlSink {
  readonly drafts: Draft[] = [];
  saysNone = false;
  #isAd = false;
  /** Adds text to the open title or snippet. */
  #add: ((text: string) => void) | undefined;
  #depth = 0;
  /** Depth of the element with the open title or snippet. */
  #addDepth = 0;

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#depth += 1;
    const classes = new Set(attributes.get("class")?.split(/\s+/));
    this.saysNone ||= classes.has("no-results") || classes.has("result--no-result");
    this.#isAd = beginsAd(name, classes) ?? this.#isAd;
    if (this.#isAd) return;
    const add = this.#begin(name, classes, attributes);
    if (add) [this.#add, this.#addDepth] = [add, this.#depth];
    else if (name === "br") this.#add?.(" ");
  }

  text(text: string): void {
    this.saysNone ||= /No (?:more )?results(?: found)?\b/i.test(text);
    this.#add?.(text);
  }

  close(): void {
    if (this.#depth === this.#addDepth) this.#add = undefined;
    this.#depth -= 1;
  }

  #begin(
    name: string,
    classes: ReadonlySet<string>,
    attributes: ReadonlyMap<string, string>,
  ): ((text: string) => void) | undefined {
    if (name === "a" && (classes.has("result__a") || classes.has("result-link"))) {
      const draft: Draft = { title: "", href: attributes.get("href") ?? "", snippet: "" };
      this.drafts.push(draft);
      return (text) => void (draft.title += text);
    }
    const last = this.drafts.at(-1);
    const isSnippet = classes.has("result__snippet") || classes.has("result-snippet");
    return isSnippet && last?.snippet === "" ? (text) => void (last.snippet += text) : undefined;
  }
}

/** Returns whether the result that starts with this tag is an advertisement; undefined if the tag starts no result. */
function beginsAd(name: string, classes: ReadonlySet<string>): boolean | undefined {
  if (name === "div" && classes.has("result")) return classes.has("result--ad");
  return name === "tr" ? classes.has("result-sponsored") : undefined;
}

const HERE = "https://duckduckgo.com/";

/** Converts a link to a hit. Links have the form `/l/?uddg=<address>`; links with `/y.js` are advertisements. */
function hitOf(title: string, href: string, snippet: string): WebHit | undefined {
  if (!URL.canParse(href, HERE)) return undefined;
  const url = new URL(href, HERE);
  const isOwn = url.hostname === "duckduckgo.com" || url.hostname.endsWith(".duckduckgo.com");
  if (isOwn && url.pathname === "/y.js") return undefined;
  const target = isOwn && url.pathname === "/l/" ? (url.searchParams.get("uddg") ?? "") : url.href;
  const isPaid =
    URL.canParse(target) &&
    /(?:^|\.)duckduckgo\.com$/.test(new URL(target).hostname) &&
    new URL(target).pathname === "/y.js";
  return isPaid ? undefined : toHit(title, target, snippet);
}
