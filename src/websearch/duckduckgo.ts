import { outboundFailure, statusFailure } from "../outbound/failures.ts";
import { retryAfterMs, type OutboundResponse } from "../outbound/outbound-client.ts";
import type { Backend } from "./backend.ts";
import { htmlPieces, type HtmlPiece } from "./html.ts";
import type { WebSearchOptions } from "./options.ts";
import { toHit, type WebHit } from "./web-hit.ts";

const NAME = "DuckDuckGo";
const SAFE_SEARCH = { off: "-2", moderate: "-1", strict: "1" } as const;
/** How long nothing is asked after a captcha: whoever goes on asking is locked out for longer. */
const CAPTCHA_PAUSE_MS = 60_000;

/**
 * The pages without scripts, `html` and `lite`. They take the form that their own search box sends, and give one page
 * of about ten hits.
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

function readPage(response: OutboundResponse): readonly WebHit[] {
  const html = response.body.toString("utf8");
  // The challenge comes with status 202, and now and then with 200.
  if (response.status === 202 || CHALLENGE.test(html)) {
    const what =
      "takes this machine for a bot and asks for a captcha. " +
      'Search less often, or set `web_search.backend` to "searxng" or "brave".';
    throw outboundFailure("limited", { service: NAME, what }, { retryAfterMs: CAPTCHA_PAUSE_MS });
  }
  if (response.status !== 200) throw statusFailure(NAME, response.status, retryAfterMs(response, Date.now()));
  const { hits, saysNone } = readResults(html);
  if (hits.length === 0 && !saysNone)
    throw outboundFailure("malformed", {
      service: NAME,
      what: "answered a page without results that does not say there are none. Check `web_search.base_url`.",
    });
  return hits;
}

const CHALLENGE = /anomaly-modal|\/anomaly\.js|id="challenge-form"/;

/**
 * Goes through a page once: a link begins a hit, the next snippet is its own; what stands in an advertisement is passed
 * over.
 */
function readResults(html: string): { readonly hits: readonly WebHit[]; readonly saysNone: boolean } {
  const found: Draft[] = [];
  let saysNone = false;
  let isAd = false;
  let reading: Reading | undefined;
  for (const piece of htmlPieces(html)) {
    saysNone ||= saysNoResults(piece);
    if (piece.type === "text") reading?.add(piece.text);
    else if (piece.type === "close") reading = piece.name === reading?.element ? undefined : reading;
    else {
      isAd = beginsAd(piece) ?? isAd;
      if (!isAd) reading = startReading(piece, found) ?? reading;
    }
  }
  return { hits: found.flatMap(({ title, href, snippet }) => hitOf(title, href, snippet) ?? []), saysNone };
}

function saysNoResults(piece: HtmlPiece): boolean {
  if (piece.type === "text") return /No (?:more )?results(?: found)?\b/i.test(piece.text);
  return piece.type === "open" && (piece.hasClass("no-results") || piece.hasClass("result--no-result"));
}

/** Whether the result that this tag begins is paid for; nothing where it begins none. */
function beginsAd({ name, hasClass }: OpenTag): boolean | undefined {
  if (name === "div" && hasClass("result")) return hasClass("result--ad");
  return name === "tr" ? hasClass("result-sponsored") : undefined;
}

type OpenTag = HtmlPiece & { readonly type: "open" };

interface Draft {
  title: string;
  readonly href: string;
  snippet: string;
}

interface Reading {
  readonly element: string;
  add(text: string): void;
}

function startReading(tag: OpenTag, found: Draft[]): Reading | undefined {
  if (tag.name === "a" && (tag.hasClass("result__a") || tag.hasClass("result-link"))) {
    const draft: Draft = { title: "", href: tag.attribute("href") ?? "", snippet: "" };
    found.push(draft);
    return { element: "a", add: (text) => void (draft.title += text) };
  }
  const last = found.at(-1);
  if (last?.snippet !== "" || !(tag.hasClass("result__snippet") || tag.hasClass("result-snippet"))) return undefined;
  return { element: tag.name, add: (text) => void (last.snippet += text) };
}

const HERE = "https://duckduckgo.com/";

/** Links go by way of `/l/?uddg=<address>`; those by way of `/y.js` are paid for. */
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
