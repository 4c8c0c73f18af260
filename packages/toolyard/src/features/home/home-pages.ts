import { VERSION } from "../../core/version.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import { SIGN_IN_PATH, type SignInCoordinator } from "../../core/ports/sign-in-coordinator.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { HubContent } from "../../core/ports/hub-port.ts";
import type { ClientEntry } from "./home-page.ts";

export interface HomeParts {
  readonly hub: Pick<HubContent, "facts" | "sources">;
  readonly startedAt: Date;
  /** Returns a text without the secrets of the configuration. */
  readonly redact: (text: string) => string;
  readonly isGuarded: boolean;
  /** Sources that support sign-in. */
  readonly signIns: Pick<SignInCoordinator, "sources">;
  /** True if `/docs` is served. */
  readonly hasDocs: boolean;
  /** Path of REST below the hub's URL, such as `/api`. Absent if REST is not served. */
  readonly restPath?: string;
  /** Returns the configuration of each client for the hub at this address. */
  readonly clients: (endpoint: string) => Promise<readonly ClientEntry[]>;
}

/** The page and the text of `GET /`, as `HomeEndpoint` serves them. */
export class HomePages {
  readonly #parts: HomeParts;

  constructor(parts: HomeParts) {
    this.#parts = parts;
  }

  async serve(exchange: HttpExchange): Promise<void> {
    const isBrowser = /(?:^|[\s,])text\/html\s*(?:[;,]|$)/i.test(exchange.header("accept") ?? "");
    return isBrowser ? this.#servePage(exchange) : this.#serveText(exchange);
  }

  async #serveText({ answer, baseUrl, mcpUrl, principal }: HttpExchange): Promise<void> {
    const { hub, redact, isGuarded, hasDocs, restPath } = this.#parts;
    const [{ homeText }, facts] = await Promise.all([import("./home-text.ts"), hub.facts(principal, { waits: false })]);
    const text = homeText({
      title: facts.title ?? facts.name,
      version: VERSION,
      baseUrl,
      mcpUrl,
      isGuarded,
      hasDocs,
      ...(restPath !== undefined && { restPath }),
    });
    const headers = ["content-type", "text/plain; charset=utf-8", "cache-control", "no-store", "vary", "accept"];
    answer.send(200, [...headers, "x-content-type-options", "nosniff"], redact(text));
  }

  async #servePage({ answer, baseUrl, mcpUrl, principal }: HttpExchange): Promise<void> {
    const { hub, startedAt, redact, isGuarded, hasDocs, signIns } = this.#parts;
    const [{ HOME_POLICY, renderHome }, clients, facts] = await Promise.all([
      import("./home-page.ts"),
      this.#parts.clients(mcpUrl),
      hub.facts(principal, { waits: false }),
    ]);
    const signIn = (source: string): string | undefined =>
      signIns.sources.has(source)
        ? `${baseUrl}${SIGN_IN_PATH}?${new URLSearchParams({ source }).toString()}`
        : undefined;
    const status = { sources: hub.sources(), upMs: uptimeMs(startedAt), signIn };
    const page = renderHome({
      title: facts.title ?? facts.name,
      version: VERSION,
      baseUrl,
      mcpUrl,
      hasDocs,
      isGuarded,
      clients,
      ...(!permissionOf(principal.rights).isNarrowed && { status }),
    });
    const headers = ["content-type", "text/html; charset=utf-8", "content-security-policy", HOME_POLICY];
    const rest = ["referrer-policy", "no-referrer", "cache-control", "no-store", "x-content-type-options", "nosniff"];
    answer.send(200, [...headers, ...rest, "vary", "accept"], redact(page));
  }
}

/** Returns the uptime in milliseconds, rounded to whole seconds, at least one second. */
function uptimeMs(startedAt: Date): number {
  return Math.max(1000, Math.round((Date.now() - startedAt.getTime()) / 1000) * 1000);
}
