import { FailError } from "../../core/errors.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import {
  CALLBACK_PATH,
  CLIENT_DOCUMENT_PATH,
  page,
  SIGN_IN_PATH,
  type SignInPage,
  type PageRequest,
  type SignInCoordinator,
} from "../../core/ports/sign-in-coordinator.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { sendJson, sendText } from "../../http/answer/send.ts";
import type { Endpoint } from "../endpoint.ts";
import { html } from "../html.ts";

const MAX_BODY_BYTES = 1024;

/**
 * Pages for sign-ins to upstream servers: their links lead here, and issuers redirect here. Also serves the hub's
 * client ID metadata document. These requests carry no token of the hub; their parameters identify the sign-in.
 */
export class SignInEndpoint implements Endpoint {
  readonly #coordinator: SignInCoordinator;
  readonly #redact: (text: string) => string;

  constructor({ signIns, redact }: { readonly signIns: SignInCoordinator; readonly redact: (text: string) => string }) {
    this.#coordinator = signIns;
    this.#redact = redact;
  }

  mount(listener: Mountable): void {
    const [reading, writing] = [["GET"], ["GET", "POST"]];
    listener.route({ methods: reading, path: CLIENT_DOCUMENT_PATH, isOpen: true }, (exchange) => this.#tell(exchange));
    listener.route({ methods: reading, path: CALLBACK_PATH, isOpen: true }, (exchange) => this.#takeBack(exchange));
    listener.route({ methods: writing, path: `${SIGN_IN_PATH}/*`, isOpen: true }, async (exchange) =>
      send(
        exchange,
        (await this.#coordinator.page(asked(exchange))) ?? page(410, html`<p>This link was used or has expired.`.text),
      ),
    );
    listener.route({ methods: writing, path: SIGN_IN_PATH }, (exchange) => this.#begin(exchange));
  }

  giveUp(): void {}

  close(): void {}

  #tell({ answer }: HttpExchange): void {
    const { address } = this.#coordinator;
    if (address === undefined || !address.startsWith("https:")) return sendText(answer, 404, "Not Found");
    const document = {
      client_id: `${address}${CLIENT_DOCUMENT_PATH}`,
      client_name: "Toolyard",
      client_uri: address,
      redirect_uris: [`${address}${CALLBACK_PATH}`],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "web",
    };
    sendJson(answer, 200, JSON.stringify(document));
  }

  async #takeBack(exchange: HttpExchange): Promise<void> {
    const request = asked(exchange);
    const shown = (await this.#coordinator.back(request)) ?? (await this.#handOver(request.query));
    send(exchange, shown ?? page(400, html`<p>No sign-in waits for this response. Start the sign-in again.`.text));
  }

  /** Passes the issuer's response to a command that waits for it in a terminal and has the same home folder. */
  async #handOver(query: URLSearchParams): Promise<SignInPage | undefined> {
    const { folder } = this.#coordinator;
    if (folder === undefined) return undefined;
    const { handOver } = await import("../../signin/handover.ts");
    const isTaken = await handOver(folder, query);
    return isTaken
      ? page(200, html`<p>Go back to the terminal where you began; it prints the result.`.text)
      : undefined;
  }

  async #begin(exchange: HttpExchange): Promise<void> {
    const { method, principal, query } = exchange;
    if (method !== "POST") {
      const isNarrowed = permissionOf(principal.rights).isNarrowed;
      const named = query.get("source");
      const ids = named === null ? (isNarrowed ? [] : Array.from(this.#coordinator.sources.keys())) : [named];
      return send(exchange, page(200, form(ids.filter((id) => this.#coordinator.sources.has(id)))));
    }
    const source = new URLSearchParams(await asked(exchange).body()).get("source") ?? "";
    try {
      const begun = await this.#coordinator.sources.get(source)?.begin({ principal });
      send(exchange, begun ?? page(403, html`<p>You may not sign in to this source.`.text));
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      const { kind, message, retryAfterMs } = error.failure;
      const shown = page(kind === "limited" ? 429 : 502, html`<p>${this.#redact(message)}`.text);
      const wait = retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
      send(exchange, { ...shown, headers: { ...shown.headers, ...wait } });
    }
  }
}

function form(ids: readonly string[]): string {
  if (ids.length === 0) return "<p>There is no source to sign in to.";
  const buttons = ids.map(
    (id) => html`<form method="post"><input type="hidden" name="source" value="${id}"><button>Sign in to ${id}</button>
</form>`,
  );
  return html`<h1>Sign in</h1>${buttons}`.text;
}

function asked(exchange: HttpExchange): PageRequest {
  const { method, path, query } = exchange;
  return {
    method,
    path,
    query,
    cookie: exchange.header("cookie"),
    body: async () => (await exchange.readBody(MAX_BODY_BYTES)).toString("utf8"),
  };
}

function send({ answer }: HttpExchange, { status, headers, body }: SignInPage): void {
  answer.send(status, Object.entries(headers).flat(), body);
}
