import { createHash } from "node:crypto";
import type { PageTexts } from "../../auth/builtin/pages/page-texts.ts";
import { fill } from "../../auth/builtin/pages/texts.ts";
import { html, type Html } from "../html.ts";

/** A page, and the addresses to which its form may redirect. */
export interface AuthPage {
  readonly status: number;
  readonly title: string;
  readonly body: Html;
  /** Sources of `form-action` (CSP) besides the hub itself. */
  readonly formActions?: readonly string[];
}

const STYLE =
  "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem;color:#1a1a1a;" +
  "background:#fff}label{display:block;margin-top:1rem}input{font:inherit;width:100%;box-sizing:border-box;" +
  "padding:.4rem;border:1px solid #555;border-radius:.3rem}button{font:inherit;margin:1.5rem 1rem 0 0;" +
  "padding:.5rem 1.2rem;border:1px solid #0b5394;border-radius:.3rem;background:#0b5394;color:#fff}" +
  "a.button{display:inline-block;padding:.5rem 1.2rem;border:1px solid #0b5394;border-radius:.3rem;color:#0b5394;" +
  "text-decoration:none}button.second{background:#fff;color:#0b5394}:focus-visible{outline:3px solid #f1a33c;outline-offset:2px}" +
  "[role=alert]{border-left:.3rem solid #b00020;padding-left:.7rem;color:#b00020}strong{overflow-wrap:anywhere}";
const STYLE_DIGEST = createHash("sha256").update(STYLE).digest("base64");

/** Formats a page. The page works without JavaScript, by keyboard and with a screen reader, and loads no resources. */
export function formatPage({ title, body }: Pick<AuthPage, "title" | "body">, { language }: PageTexts): string {
  return html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${trusted(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>
`.text;
}

/** Returns the headers of a page, which forbid loading, framing and caching. */
export function pageHeaders(formActions: readonly string[] = []): Readonly<Record<string, string>> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; form-action ${["'self'", ...formActions].join(" ")}; ` +
      "frame-ancestors 'none'; base-uri 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // Not `no-referrer`, because browsers would then send `Origin: null` with the form.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  };
}

export interface LoginFacts {
  readonly csrf: string;
  readonly client: string;
  /** Problem of the last attempt, shown above the form. */
  readonly problem?: string;
  readonly userName?: string;
  /** Identity providers that the page offers. */
  readonly providers?: readonly { readonly id: string; readonly title: string }[];
}

export function loginPage(
  { csrf, client, problem, userName = "", providers = [] }: LoginFacts,
  texts: PageTexts,
  status = 200,
): AuthPage {
  const body = html`${problem === undefined ? "" : html`<p role="alert">${problem}</p>`}
<p>${fill(texts.signInFor, { client })}</p>
<form method="post"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="action" value="login">
<label for="user">${texts.userName}</label>
<input id="user" name="user" value="${userName}" autocomplete="username" autocapitalize="none" required autofocus>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>${texts.signIn}</button></form>${providers.map((provider) => providerLink(provider, csrf, texts))}`;
  return { status, title: texts.signIn, body };
}

/** A link instead of a form, because `form-action` (CSP) would also apply to the redirect to the provider. */
function providerLink({ id, title }: { readonly id: string; readonly title: string }, csrf: string, texts: PageTexts) {
  const query = new URLSearchParams({ provider: id, csrf }).toString();
  return html`
<p><a class="button" href="?${query}">${fill(texts.signInWith, { provider: title })}</a></p>`;
}

export interface ConsentFacts {
  readonly csrf: string;
  readonly client: string;
  readonly user: string;
  /** Sentence about the address or device that gets the access. */
  readonly target: string;
  /** CSP sources of the addresses to which the form may redirect. */
  readonly formActions: readonly string[];
  readonly scopes: readonly string[];
}

export function consentPage(facts: ConsentFacts, texts: PageTexts): AuthPage {
  const { csrf, client, user, target, formActions, scopes } = facts;
  const button = (action: string, label: string, kind: string): Html =>
    html`<button name="action" value="${action}" class="${kind}">${label}</button>`;
  const body = html`<p>${fill(texts.asks, { client })}</p>
<p><strong>${target}</strong></p>
<p>${texts.permissions}</p><ul>${scopes.map((scope) => html`<li>${scopeText(scope, texts)}</li>`)}</ul>
<p>${fill(texts.signedInAs, { user })} <a href="?other=1">${texts.otherUser}</a></p>
<form method="post"><input type="hidden" name="csrf" value="${csrf}">
${button("allow", texts.allow, "first")}${button("deny", texts.deny, "second")}</form>`;
  return { status: 200, title: texts.consent, body, formActions };
}

export function errorPage(message: string, texts: PageTexts, status = 400): AuthPage {
  return { status, title: texts.error, body: html`<p role="alert">${message}</p>` };
}

function scopeText(scope: string, texts: PageTexts): string {
  if (scope === "mcp") return texts.scopeBase;
  if (scope === "offline_access") return texts.scopeOffline;
  return scope === "openid" ? texts.scopeOpenid : scope;
}

/** Marks a text of this file as HTML that need not be escaped. */
function trusted(text: string): Html {
  return Object.assign(html``, { text });
}

/**
 * Returns the name to show for a client. A client chooses its name freely; only the host of its metadata document can
 * be trusted.
 */
export function clientLabel({
  clientId,
  clientName,
}: {
  readonly clientId: string;
  readonly clientName?: string;
}): string {
  if (!clientId.startsWith("https://")) return clientName ?? clientId;
  const { host } = new URL(clientId);
  return clientName === undefined ? host : `${clientName} (${host})`;
}
