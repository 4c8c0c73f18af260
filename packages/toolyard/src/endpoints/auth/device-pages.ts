import type { DeviceContext, DevicePage, RegisteredOidcClient } from "../../auth/builtin/device-flow.ts";
import type { PageTexts } from "../../auth/builtin/pages/page-texts.ts";
import { fill, textsFor } from "../../auth/builtin/pages/texts.ts";
import { firstChars } from "../../core/text/truncate.ts";
import { html, type Html } from "../html.ts";
import { clientLabel, formatPage, type AuthPage } from "./pages.ts";

/**
 * Query parameter whose value is filled into the form. `oidc-provider` would submit its own `user_code` by a script.
 */
export const PREFILLED_CODE = "code";
const MAX_CODE_CHARS = 32;

/** Renders a page of the device flow into a response of the library. */
export function renderDevicePage(context: DeviceContext, page: DevicePage): void {
  const texts = textsFor(context.headers["accept-language"]);
  context.type = "html";
  context.body = formatPage({ title: texts.device, body: bodyOf(page, context.query, texts) }, texts);
}

/** Returns the page for too many codes from one address. */
export function codeLimitPage(problem: string, texts: PageTexts): AuthPage {
  return { status: 429, title: texts.device, body: html`<p role="alert">${problem}</p>` };
}

function bodyOf(page: DevicePage, query: DeviceContext["query"], texts: PageTexts): Html {
  if (page.kind === "done") return html`<p role="status">${texts.deviceDone}</p>`;
  if (page.kind === "confirm") return confirmForm(page, texts);
  if (page.problem === "denied") return html`<p role="status">${texts.deviceDenied}</p>`;
  if (page.problem === "form") return html`<p role="alert">${texts.expired}</p>`;
  const code = typeof query[PREFILLED_CODE] === "string" ? firstChars(query[PREFILLED_CODE], MAX_CODE_CHARS) : "";
  return html`${page.problem === undefined ? "" : html`<p role="alert">${texts.wrongCode}</p>`}
<p>${texts.enterCode}</p>
<form method="post"><input type="hidden" name="xsrf" value="${page.csrf}">
<label for="code">${texts.code}</label>
<input id="code" name="user_code" value="${code}" autocomplete="off" autocapitalize="characters" required autofocus>
<button>${texts.proceed}</button></form>`;
}

interface CodeToConfirm {
  readonly csrf: string;
  readonly client: RegisteredOidcClient;
  readonly code: string;
}

function confirmForm({ csrf, client, code }: CodeToConfirm, texts: PageTexts): Html {
  return html`<p>${fill(texts.compareCode, { client: clientLabel(client) })}</p>
<p><strong>${code}</strong></p>
<p>${texts.codeWarning}</p>
<form method="post"><input type="hidden" name="xsrf" value="${csrf}">
<input type="hidden" name="user_code" value="${code}">
<button name="confirm" value="yes" class="first">${texts.proceed}</button>
<button name="abort" value="yes" class="second">${texts.deny}</button></form>`;
}
