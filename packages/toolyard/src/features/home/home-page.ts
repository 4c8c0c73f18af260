import { createHash } from "node:crypto";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { html, Html } from "../../endpoints/html.ts";
import { HOME_STYLE } from "./home-style.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Configuration of one client for this hub. */
export interface ClientEntry {
  readonly program: string;
  /** Link that opens the client and offers to add the hub. */
  readonly link?: string;
  /** File in which `text` belongs. */
  readonly place: string;
  /** Text that the user copies into the file. */
  readonly text: string;
}

export interface HomeFacts {
  readonly title: string;
  readonly version: string;
  /** URL of this hub as the reader reaches it, without a trailing slash. */
  readonly baseUrl: string;
  readonly mcpUrl: string;
  readonly hasDocs: boolean;
  /** True if callers must send a token. */
  readonly isGuarded: boolean;
  readonly clients: readonly ClientEntry[];
  /** Absent for callers who may not see the status. */
  readonly status?: {
    readonly sources: readonly SourceReport[];
    readonly upMs: number;
    /** Returns the sign-in URL of a source that supports sign-in. */
    readonly signIn: (source: string) => string | undefined;
  };
}

/** Content security policy: no scripts, no external content, and only the style of this page. */
export const HOME_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(HOME_STYLE).digest("base64")}'; ` +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Renders the home page. Texts of sources are escaped. */
export function renderHome(facts: HomeFacts): string {
  const { title, version, baseUrl, mcpUrl, hasDocs, isGuarded, clients, status } = facts;
  const links = [
    ...(hasDocs ? [html`<a href="${baseUrl}/docs">Every tool, by REST</a>`] : []),
    ...(status ? [html`<a href="${baseUrl}/status">Status as JSON</a>`] : []),
  ];
  const up = status ? `, up ${formatDuration(status.upMs)}` : "";
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title>
<style>${new Html(HOME_STYLE)}</style></head><body>
<header><h1>${title}</h1><p class="dim">toolyard ${version}${up}</p></header>
<main><p>This is an MCP endpoint. Its address:</p><pre class="copy">${mcpUrl}</pre>
${isGuarded ? html`<p>Clients need the token, in the variable <code>TOOLYARD_TOKEN</code>.</p>` : ""}
${links.length > 0 ? html`<nav>${links}</nav>` : ""}
${status ? sourcesOf(status) : ""}
<h2>Connect a client</h2><p class="dim">A click selects a whole text. <code>toolyard connect</code> writes it into the
client’s file by itself.</p>
${clients.map(clientOf)}</main></body></html>`.text;
}

function clientOf({ program, link, place, text }: ClientEntry): Html {
  const button = link === undefined ? "" : html` <a class="button" href="${link}">Add to ${program}</a>`;
  return html`<details><summary>${program}</summary><div class="body">${button}<p class="dim">${place}</p>
<pre class="copy">${text}</pre></div></details>`;
}

function sourcesOf({ sources, signIn }: NonNullable<HomeFacts["status"]>): Html {
  const rows = sources.map((one) => sourceOf(one, signIn(one.source.id)));
  return html`<h2>Sources</h2><ul class="sources">${rows}</ul>`;
}

function sourceOf({ source, status, tools, problems }: SourceReport, signIn: string | undefined): Html {
  const { state, lastError } = status;
  const told = problems.filter(({ renamed }) => !renamed);
  const isWell = (state === "ready" && told.length === 0) || (state === "disabled" && lastError === undefined);
  const reasons = [
    ...(lastError === undefined || isWell ? [] : [lastError]),
    ...told
      .map(({ subject, message }) => `${subject}: ${message}`)
      .filter((text) => text !== lastError)
      .slice(0, MAX_REASONS),
  ];
  const paint = isWell ? "well" : state === "starting" ? "busy" : "ill";
  return html`<li><span class="state ${paint}">${state}</span> <b>${source.id}</b>
<span class="dim">${source.kind}, ${tools === 1 ? "1 tool" : `${tools} tools`}</span>
${reasons.map((text) => html`<p>${firstChars(text, MAX_REASON_CHARS)}</p>`)}
${state === "needs_authorisation" && signIn !== undefined ? html`<p><a href="${signIn}">Sign in</a></p>` : ""}</li>`;
}

const MAX_REASONS = 5;
const MAX_REASON_CHARS = 1000;
