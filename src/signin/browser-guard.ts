import { randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { escaped, showPage } from "./page.ts";

export interface BrowserGuardOptions {
  /** Id of the source that is signed in to. */
  readonly source: string;
  /** Whose sign-in it becomes. */
  readonly principal: string;
}

const COOKIE = "toolyard-sign-in";
const GOOD_FOR_MS = 600_000;
const MAX_TRIES = 5;
const MAX_BODY_BYTES = 1024;

/**
 * A link that was handed to somebody in a chat: good for one sign-in and ten minutes, for whoever reads the code there
 * too. Only the browser that gave the code can bring the answer back, so that nobody finishes what another has begun.
 */
export class BrowserGuard {
  readonly path = `/sign-in/${randomBytes(18).toString("base64url")}`;
  /** What the chat shows. */
  readonly code = String(randomInt(1_000_000)).padStart(6, "0");
  readonly #options: BrowserGuardOptions;
  readonly #cookie = randomBytes(24).toString("base64url");
  readonly #until = performance.now() + GOOD_FOR_MS;
  #address: string | undefined;
  #tries = 0;

  constructor(options: BrowserGuardOptions) {
    this.#options = options;
  }

  /** Where the link leads once the code was given. */
  leadTo(address: string): void {
    this.#address = address;
  }

  /** Whether this browser is the one that gave the code. */
  admits({ headers }: IncomingMessage): boolean {
    const given = headers.cookie?.split(/;\s*/).find((pair) => pair.startsWith(`${COOKIE}=`));
    return isEqual(given ?? "", `${COOKIE}=${this.#cookie}`);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isOpen = this.#address !== undefined && this.#tries < MAX_TRIES && performance.now() < this.#until;
    if (!isOpen) return showPage(response, 410, "<p>This link was used, or its time is over. Begin anew in the chat.");
    if (request.method === "GET") return showPage(response, 200, this.#form(""));
    if (request.method !== "POST") return showPage(response, 405, "<p>This is a page for a browser.");
    this.#tries += 1;
    const given = new URLSearchParams(await bodyOf(request)).get("code") ?? "";
    if (!isEqual(given.trim(), this.code)) return showPage(response, 403, this.#form("<p>That is not the code."));
    const address = this.#address!;
    this.#address = undefined;
    response
      .writeHead(303, {
        location: address,
        "set-cookie": `${COOKIE}=${this.#cookie}; Path=/callback; HttpOnly; SameSite=Lax; Max-Age=600`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        connection: "close",
      })
      .end();
  }

  #form(note: string): string {
    const { source, principal } = this.#options;
    return (
      `<h1>Sign in to ${escaped(source)}</h1>${note}` +
      `<p>The hub will use what you sign in with for the tools of ${escaped(source)}, as ${escaped(principal)}. ` +
      "Go on only if you asked for that just now.<form method=post><label>Code that the chat shows " +
      "<input name=code inputmode=numeric autocomplete=off required></label> <button>Go on</button></form>"
    );
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > MAX_BODY_BYTES) return "";
  }
  return body;
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
