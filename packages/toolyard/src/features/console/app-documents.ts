import { createHash, randomBytes } from "node:crypto";
import { isJsonObject, listMember, objectMember, type JsonObject } from "../../core/json/json.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { AppDomains } from "./app-types.ts";
import { isHubId } from "../../core/hub-id.ts";

/** Time within which a document must be loaded. */
const DOCUMENT_MS = 60_000;
const MAX_DOCUMENTS = 64;
/** Maximum number and total length of the documents of one caller, so that it displaces its own documents first. */
const MAX_OF_CALLER = 16;
const MAX_CHARS_OF_CALLER = 10_000_000;
/** Maximum length of all documents. */
const MAX_CHARS = 50_000_000;
const MAX_ORIGINS = 50;
/** An origin, possibly with all of its subdomains. Anything else could add a directive or a keyword to the policy. */
const ORIGIN = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,10}(?::\d{1,5})?$/i;

/** The page of a tool that a caller opens. */
export interface AppPage {
  readonly html: string;
  readonly domains: AppDomains;
  /** Key of the caller that opened the page. */
  readonly owner: string;
}

interface AppDocument extends Pick<AppPage, "html" | "owner"> {
  readonly policy: string;
  readonly until: number;
  /** Timer that removes the document when it expires. */
  readonly timer: NodeJS.Timeout;
}

/**
 * Documents of MCP Apps between the request of the page and their frame. A frame sends no header, so the address itself
 * is the credential: it is random and can be used once.
 */
export class AppDocuments {
  readonly #documents = new Map<string, AppDocument>();
  readonly #now: () => number;
  /** Id of the hub, if it shares a store with others. */
  readonly #hub: string | undefined;

  constructor({ now = Date.now, hub }: { readonly now?: () => number; readonly hub?: string | undefined } = {}) {
    this.#now = now;
    this.#hub = hub;
  }

  /** Returns the address of a document below `/console/`. Removes the oldest documents if there are too many. */
  add({ html, domains, owner }: AppPage): string {
    this.#makeRoom(html.length, { owner, count: MAX_OF_CALLER, chars: MAX_CHARS_OF_CALLER });
    this.#makeRoom(html.length, { count: MAX_DOCUMENTS, chars: MAX_CHARS });
    const ticket = randomBytes(32).toString("base64url");
    const name = nameOf(ticket);
    const timer = setTimeout(() => this.#take(name), DOCUMENT_MS).unref();
    const until = this.#now() + DOCUMENT_MS;
    this.#documents.set(name, { html, owner, policy: appPolicy(domains), until, timer });
    return this.#hub === undefined ? `app/${ticket}` : `app/${this.#hub}${HUB_MARK}${ticket}`;
  }

  /** Removes the oldest documents, of one owner or of all, until another document is within the limits. */
  #makeRoom(added: number, limits: { readonly owner?: string; readonly count: number; readonly chars: number }): void {
    const { owner } = limits;
    const found = [...this.#documents].filter(([, document]) => owner === undefined || document.owner === owner);
    let [count, chars] = [found.length + 1, found.reduce((sum, [, { html }]) => sum + html.length, added)];
    for (const [name, { html }] of found) {
      if (count <= limits.count && chars <= limits.chars) return;
      this.#take(name);
      count -= 1;
      chars -= html.length;
    }
  }

  /** Removes a document and returns it. */
  #take(name: string): AppDocument | undefined {
    const document = this.#documents.get(name);
    clearTimeout(document?.timer);
    this.#documents.delete(name);
    return document;
  }

  /** Sends the document of an address below `app/`. Throws a `Refusal` if the address was used or has expired. */
  send({ answer }: Pick<HttpExchange, "answer">, address: string): void {
    const document = this.#take(nameOf(address.split(HUB_MARK).at(-1)!));
    if (!document || this.#now() > document.until) throw usedAddress();
    const head = ["content-type", "text/html; charset=utf-8", "content-security-policy", document.policy, ...HEADERS];
    answer.send(200, head, document.html);
  }
}

/** Text of 32 bytes in base64url. */
const TICKET = /^[\w-]{43}$/;
/** Separates the id of the hub and the ticket in an address. */
const HUB_MARK = "~";

/**
 * Returns the hub that has the document of an address. Throws a `Refusal` if the document would not be in a frame, or
 * if no hub can have it: a request without credentials must not cause look-ups of any name in the store.
 */
export function hubOfApp(exchange: Pick<HttpExchange, "header">, address: string): string | undefined {
  if ((exchange.header("sec-fetch-dest") ?? "iframe") !== "iframe") throw usedAddress();
  const end = address.indexOf(HUB_MARK);
  if (end === -1) return undefined;
  const hub = address.slice(0, end);
  if (!isHubId(hub) || !TICKET.test(address.slice(end + 1))) throw usedAddress();
  return hub;
}

function usedAddress(): Refusal {
  return new Refusal(404, "This address was used or has expired. Run the tool again.");
}

const HEADERS = [
  "cache-control",
  "no-store",
  "x-content-type-options",
  "nosniff",
  "referrer-policy",
  "no-referrer",
  "permissions-policy",
  "camera=(), microphone=(), geolocation=(), clipboard-read=(), clipboard-write=(), display-capture=()",
];

function nameOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64");
}

/** Reads the declared origins of a page from `_meta.ui.csp`. */
export function readDomains(meta: JsonObject): AppDomains {
  const csp = objectMember(objectMember(meta, "ui") ?? {}, "csp") ?? {};
  const originsIn = (name: string): readonly string[] =>
    listMember(csp, name)
      .filter((one): one is string => typeof one === "string" && ORIGIN.test(one))
      .slice(0, MAX_ORIGINS);
  return {
    connectDomains: originsIn("connectDomains"),
    resourceDomains: originsIn("resourceDomains"),
    frameDomains: originsIn("frameDomains"),
    baseUriDomains: originsIn("baseUriDomains"),
  };
}

/**
 * Returns the policy of a page. `sandbox` without `allow-same-origin` gives it an opaque origin, also outside of its
 * frame: it has no access to the console, its storage and its cookies. Compared with the restrictive default of MCP
 * Apps, `'self'` is missing: the page must not load anything from the hub.
 */
export function appPolicy({ connectDomains, resourceDomains, frameDomains, baseUriDomains }: AppDomains): string {
  const list = (name: string, ...sources: readonly string[]): string =>
    `${name} ${sources.length === 0 ? "'none'" : sources.join(" ")}`;
  return [
    "sandbox allow-scripts allow-forms",
    "default-src 'none'",
    list("script-src", "'unsafe-inline'", ...resourceDomains),
    list("style-src", "'unsafe-inline'", ...resourceDomains),
    list("img-src", "data:", "blob:", ...resourceDomains),
    list("media-src", "data:", "blob:", ...resourceDomains),
    list("font-src", "data:", ...resourceDomains),
    list("connect-src", ...connectDomains),
    list("frame-src", ...frameDomains),
    list("base-uri", ...baseUriDomains),
    "object-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}

/** Media type of a page (MCP Apps, 2026-01-26). */
const APP_TYPE = /^text\/html\s*;\s*profile=mcp-app$/i;
const MAX_HTML_CHARS = 5_000_000;

/** Returns the HTML and the metadata of the first page in a result of `resources/read`. */
export function readAppPage(result: JsonObject): { readonly html: string; readonly meta: JsonObject } | undefined {
  for (const content of listMember(result, "contents").filter(isJsonObject)) {
    const { mimeType, text, blob } = content;
    if (typeof mimeType !== "string" || !APP_TYPE.test(mimeType.trim())) continue;
    const html = typeof text === "string" ? text : typeof blob === "string" ? decoded(blob) : "";
    if (html !== "" && html.length <= MAX_HTML_CHARS) return { html, meta: objectMember(content, "_meta") ?? {} };
  }
  return undefined;
}

function decoded(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
