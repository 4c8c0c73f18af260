// A user at a browser. If `CHROMIUM` names a browser, the tests drive it; otherwise a replacement follows links and
// redirects, keeps cookies and sends forms.
import { Chromium, type ChromiumPage } from "../support/chromium.ts";

export interface BrowserPage {
  /** Last address of the browser. */
  readonly url: string;
  readonly text: string;
}

export interface Browser {
  /** Opens an address, fills in and sends each form once, and returns the last page. */
  visit(address: string, answers?: Readonly<Record<string, string>>): Promise<BrowserPage>;
}

/** Browsers of several users, which share no cookies. */
export interface Browsers extends AsyncDisposable {
  open(): Promise<Browser>;
}

export async function startBrowsers(path = process.env["CHROMIUM"]): Promise<Browsers> {
  if (path === undefined || path === "")
    return { open: async () => new FetchBrowser(), [Symbol.asyncDispose]: async () => {} };
  const chromium = await Chromium.start(path);
  return {
    open: async () => new ChromiumBrowser(await chromium.newPage()),
    [Symbol.asyncDispose]: () => chromium[Symbol.asyncDispose](),
  };
}

/** Maximum number of forms in one sign-in. */
const MAX_FORMS = 6;

class ChromiumBrowser implements Browser {
  readonly #page: ChromiumPage;

  constructor(page: ChromiumPage) {
    this.#page = page;
  }

  async visit(address: string, answers: Readonly<Record<string, string>> = {}): Promise<BrowserPage> {
    await this.#page.open(address);
    const filled = new Set<string>();
    for (let forms = 0; forms < MAX_FORMS; forms += 1) {
      const { url, text, hasForm } = (await this.#page.look(LOOK)) as BrowserPage & { readonly hasForm: boolean };
      if (!hasForm || filled.has(url)) return { url, text };
      filled.add(url);
      await this.#page.go(`(${sendForm.toString()})(${JSON.stringify(answers)})`);
    }
    throw new Error("A form came after each form.");
  }
}

const LOOK = "({ url: location.href, text: document.body.innerText, hasForm: document.forms.length > 0 })";

/** Runs inside of the page. */
function sendForm(answers: Record<string, string>): void {
  const [form] = (globalThis as unknown as { document: { forms: FormLike[] } }).document.forms;
  for (const field of form!.elements) if (field.name in answers) field.value = answers[field.name]!;
  form!.querySelector("button").click();
}

interface FormLike {
  readonly elements: Iterable<{ name: string; value: string }>;
  querySelector(name: string): { click(): void };
}

class FetchBrowser implements Browser {
  /** Cookies by host, then by name; the tests do not depend on ports and paths. */
  readonly #cookies = new Map<string, Map<string, string>>();

  async visit(address: string, answers: Readonly<Record<string, string>> = {}): Promise<BrowserPage> {
    let { url, html } = await this.#load(address);
    const filled = new Set<string>();
    while (html.includes("<form") && !filled.has(url)) {
      filled.add(url);
      const to = new URL(/<form[^>]* action="([^"]*)"/.exec(html)?.[1] ?? url, url);
      ({ url, html } = await this.#load(to.href, { method: "POST", body: formIn(html, answers) }));
    }
    return { url, text: html.replaceAll(/<[^>]*>/g, " ") };
  }

  async #load(address: string, sent: RequestInit = {}): Promise<{ url: string; html: string }> {
    const url = new URL(address);
    const kept = this.#cookies.get(url.hostname) ?? new Map<string, string>();
    this.#cookies.set(url.hostname, kept);
    const cookie = Array.from(kept, ([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { ...sent, headers: { cookie }, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      kept.set(name!, value!);
    }
    const html = await answer.text();
    const location = answer.headers.get("location");
    return location === null ? { url: url.href, html } : this.#load(new URL(location, url).href);
  }
}

function formIn(html: string, answers: Readonly<Record<string, string>>): URLSearchParams {
  const form = html.slice(html.indexOf("<form"), html.indexOf("</form>"));
  const body = new URLSearchParams();
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const [name, value] = ["name", "value"].map((key) => new RegExp(`${key}="?([^" >]*)`).exec(input)?.[1]);
    if (name !== undefined) body.set(name, answers[name] ?? value ?? "");
  }
  return body;
}
