import { createHash } from "node:crypto";
import type { CodeFlow } from "../../../core/ports/code-flow.ts";
import { html, Html } from "../../../endpoints/html.ts";
import type { SignInTexts } from "./sign-in-texts.ts";

const STYLE =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:15vh auto 0;" +
  "padding:0 1rem}h1{font-size:1.3rem}label{display:block;margin-top:1rem}input,button{font:inherit;width:100%;" +
  "box-sizing:border-box;padding:.5rem .7rem;border:1px solid #777;border-radius:.4rem}button{margin-top:1rem;" +
  "background:#0b5394;color:#fff;border-color:#0b5394}.button{display:block;padding:.5rem .7rem;text-align:center;" +
  "border-radius:.4rem;background:#0b5394;color:#fff;text-decoration:none}[role=alert]{color:#b00020;background:#fff;" +
  "border-left:.3rem solid #b00020;padding:.4rem .7rem}:focus-visible{outline:3px solid #f1a33c;outline-offset:2px}";
const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Headers of the page. */
export const SIGN_IN_HEADERS: readonly string[] = [
  "content-type",
  "text/html; charset=utf-8",
  "content-security-policy",
  POLICY,
  "x-frame-options",
  "DENY",
  "x-content-type-options",
  "nosniff",
  // Not `no-referrer`, because browsers would then send `Origin: null` with the form.
  "referrer-policy",
  "same-origin",
  "cache-control",
  "no-store",
  "vary",
  "accept-language",
];

export interface SignInFacts {
  readonly title: string;
  /** Address of the API, relative to the page. */
  readonly api: string;
  readonly problem: string | undefined;
  /** Authorization servers at which the browser can sign in. */
  readonly flows: readonly Pick<CodeFlow, "name" | "label">[];
  readonly texts: SignInTexts;
}

/** Formats the page with a link for each authorization server, and the form for a token. It needs no JavaScript. */
export function signInPage({ title, api, problem, flows, texts }: SignInFacts): string {
  const { language, token, refused, hint } = texts;
  const heading = texts.title(title);
  return html`<!doctype html><html lang="${language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>${heading}</title>
<style>${new Html(STYLE)}</style></head><body><main><h1>${heading}</h1>
${problem === undefined ? "" : html`<p role="alert">${refused} <span lang="en">${problem}</span></p>`}
${flows.map(
  ({ name, label }) => html`<p><a class="button" href="${`${api}sign-in?by=${name}`}">${texts.signInAt(label)}</a></p>`,
)}
<form method="post" action="${`${api}session`}"><label for="token">${token}</label>
<input id="token" name="token" type="password" autocomplete="current-password" required
${flows.length > 0 ? "" : new Html("autofocus")}
${problem === undefined ? "" : new Html('aria-invalid="true"')}>
<button>${flows.length > 0 ? texts.signInWithToken : texts.signIn}</button></form>
<p>${hint[0]}<code>[server]</code>${hint[1]}</p></main></body></html>`.text;
}
