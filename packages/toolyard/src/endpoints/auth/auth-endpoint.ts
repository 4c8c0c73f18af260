import type { AuthRequest, AuthServer, PendingSignIn } from "../../auth/builtin/auth-server.ts";
import type { AuthServerHandle } from "../../auth/builtin/auth-server-handle.ts";
import { Attempts } from "../../auth/builtin/attempts.ts";
import type { BridgedAnswer } from "../../auth/builtin/node-bridge.ts";
import type { PageTexts } from "../../auth/builtin/pages/page-texts.ts";
import { fill, textsFor } from "../../auth/builtin/pages/texts.ts";
import { TooManyChecks } from "../../auth/builtin/passwords.ts";
import type { ErrorContext } from "../../auth/builtin/device-flow.ts";
import { AUTH_ROUTES, INTERACTION_PATH } from "../../auth/builtin/provider.ts";
import { FEDERATION_PATH } from "../../auth/builtin/federation/federation.ts";
import { formActionOf, normaliseClient, objectOf, redirectTarget } from "../../auth/builtin/redirects.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { firstChars } from "../../core/text/truncate.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AttemptLimit } from "../../state/ports/auth-state.ts";
import { orUnavailable } from "./unavailable.ts";
import { responseAddress, takeFederatedStep } from "./federated-sign-in.ts";
import { codeLimitPage, PREFILLED_CODE, renderDevicePage } from "./device-pages.ts";
import { withBasic, withScope, withSlowDown } from "./adjusted-requests.ts";
import { bridgedHeaders } from "./bridged-headers.ts";
import {
  clientLabel,
  consentPage,
  errorPage,
  formatPage,
  loginPage,
  pageHeaders,
  type AuthPage,
  type ConsentFacts,
  type LoginFacts,
} from "./pages.ts";

const MAX_BODY_BYTES = 64 * 1024;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/**
 * Limit of requests from one address to the pages and to the protocol's endpoints. It protects this hub from floods, so
 * each hub counts on its own; the limits of attempts below hold for all hubs of a store together.
 */
const REQUESTS = { burst: 600, everyMs: SECOND_MS / 10 };
/** Limit of registrations from one address. */
const REGISTRATIONS = { burst: 20, everyMs: MINUTE_MS };
/** Limits of wrong passwords for one user, and from one address. */
const PASSWORDS = { burst: 5, everyMs: 30 * SECOND_MS };
const PASSWORDS_OF_ADDRESS = { burst: 20, everyMs: 10 * SECOND_MS };

/** Limit of sign-ins that devices start, from one address. */
const DEVICES = { burst: 20, everyMs: 3 * SECOND_MS };
/**
 * Limit of sign-ins that devices start from all addresses together. At most 8,000 codes are pending at one time, so the
 * store of 10,000 codes removes only expired ones.
 */
const ALL_DEVICES = { burst: 2000, everyMs: SECOND_MS / 10 };
/** Limit of device codes that users enter, from one address. Each sign-in submits its code twice. */
const CODES = { burst: 20, everyMs: 5 * SECOND_MS };

/** Endpoint that serves the authorization server and its pages. */
export class AuthEndpoint implements Endpoint {
  readonly #handle: AuthServerHandle;
  readonly #logger: Logger;
  readonly #requests = new Attempts(REQUESTS, Date.now);

  constructor(handle: AuthServerHandle, logger: Logger) {
    this.#handle = handle;
    this.#logger = logger;
  }

  mount(listener: Mountable): void {
    const { authorization, token, registration, revocation, jwks, userinfo } = AUTH_ROUTES;
    const open = (methods: readonly string[], path: string, isShared: boolean): void =>
      listener.route(
        { methods, path, isOpen: true, isShared },
        orUnavailable((exchange) => this.#protocol(exchange)),
      );
    for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", jwks])
      open(["GET"], path, true);
    for (const path of [token, revocation]) open(["POST"], path, true);
    open(["GET", "POST"], userinfo, true);
    open(["GET", "POST"], authorization, false);
    open(["GET"], `${authorization}/*`, false);
    if (this.#handle.options.dynamicRegistration)
      listener.route(
        { methods: ["POST"], path: registration, isOpen: true, isShared: true },
        orUnavailable((exchange) => this.#register(exchange)),
      );
    this.#mountDevice(listener);
    listener.route(
      { methods: ["GET", "POST"], path: `${INTERACTION_PATH}/*`, isOpen: true },
      orUnavailable((exchange) => this.#interact(exchange)),
    );
    if (this.#handle.options.providers.length > 0)
      listener.route(
        { methods: ["GET"], path: `${FEDERATION_PATH}/*`, isOpen: true },
        orUnavailable((exchange) => this.#federate(exchange)),
      );
  }

  #mountDevice(listener: Mountable): void {
    const { device_authorization: start, code_verification: page } = AUTH_ROUTES;
    const pages = { methods: ["GET", "POST"], path: page, isOpen: true };
    listener.route(
      { methods: ["POST"], path: start, isOpen: true, isShared: true },
      orUnavailable((exchange) => this.#startDevice(exchange)),
    );
    listener.route(
      pages,
      orUnavailable((exchange) => this.#device(exchange)),
    );
    listener.route(
      { methods: ["GET"], path: `${page}/*`, isOpen: true },
      orUnavailable((exchange) => this.#protocol(exchange)),
    );
  }

  giveUp(): void {}

  close(): void {}

  /** Loads the authorization server, and sets the function that renders its error pages. */
  async #open(): Promise<AuthServer> {
    const server = await this.#handle.load();
    server.renderError = renderError;
    server.renderDevicePage = renderDevicePage;
    return server;
  }

  async #protocol(exchange: HttpExchange): Promise<void> {
    if (this.#isLimited(exchange)) return;
    const body = await exchange.readBody(MAX_BODY_BYTES);
    const { scopes, machines } = this.#handle.options;
    const request = withBasic(withScope(requestOf(exchange, body), scopes), machines);
    const answer = await (await this.#open()).answer(request);
    const { polls } = (await this.#open()).state;
    send(exchange, request.url === AUTH_ROUTES.token ? await withSlowDown(request, answer, polls) : answer);
  }

  async #startDevice(exchange: HttpExchange): Promise<void> {
    const waitMs =
      (await this.#take("devices", DEVICES, exchange.remoteAddress)) ||
      (await this.#take("all devices", ALL_DEVICES, "all"));
    return waitMs > 0 ? refuse(exchange, waitMs) : this.#protocol(exchange);
  }

  /** Serves the page for the code of a device. Codes are limited, because they are short enough to be guessed. */
  async #device(exchange: HttpExchange): Promise<void> {
    if (this.#isLimited(exchange)) return;
    const waitMs = exchange.method === "POST" ? await this.#take("codes", CODES, exchange.remoteAddress) : 0;
    const texts = textsFor(exchange.header("accept-language"));
    if (waitMs > 0) return show(exchange, codeLimitPage(waitText(waitMs, texts), texts), texts);
    const request = requestOf(exchange, await exchange.readBody(MAX_BODY_BYTES));
    const code = exchange.query.get("user_code");
    const query = new URLSearchParams(code === null ? {} : { [PREFILLED_CODE]: code }).toString();
    const url = query === "" ? exchange.path : `${exchange.path}?${query}`;
    send(exchange, await (await this.#open()).answer({ ...request, url }));
  }

  /** Registers a client. The metadata is normalised, since clients differ in the members that they omit. */
  async #register(exchange: HttpExchange): Promise<void> {
    const waitMs = await this.#take("registrations", REGISTRATIONS, exchange.remoteAddress);
    if (waitMs > 0) return refuse(exchange, waitMs);
    const metadata = objectOf(await exchange.readBody(MAX_BODY_BYTES));
    const body = Buffer.from(metadata ? JSON.stringify(normaliseClient(metadata)) : "");
    const answer = await (await this.#open()).answer(requestOf(exchange, body));
    if (answer.status === 201)
      this.#logger.info("A client has registered itself.", { name: String(metadata?.["client_name"] ?? "") });
    send(exchange, answer);
  }

  async #interact(exchange: HttpExchange): Promise<void> {
    if (this.#isLimited(exchange)) return;
    const texts = textsFor(exchange.header("accept-language"));
    const body = await exchange.readBody(MAX_BODY_BYTES);
    const request = requestOf(exchange, Buffer.alloc(0));
    const server = await this.#open();
    const pending = await server.findPending(request);
    if (!pending) return show(exchange, errorPage(texts.expired, texts), texts);
    if (exchange.method === "GET") return this.#show(exchange, { server, pending, request, texts });
    const form = new URLSearchParams(body.toString("utf8"));
    if (!pending.isOwnForm(form.get("csrf") ?? "")) return show(exchange, errorPage(texts.expired, texts, 403), texts);
    const next = await this.#takeForm(exchange, { server, pending, form, request, texts });
    if (typeof next === "string") redirect(exchange, next);
    else show(exchange, next, texts);
  }

  /**
   * Sends a browser that returns from an identity provider to the address of the sign-in that waits for the response.
   */
  async #federate(exchange: HttpExchange): Promise<void> {
    if (this.#isLimited(exchange)) return;
    const next = await responseAddress(await this.#open(), exchange);
    const texts = textsFor(exchange.header("accept-language"));
    if (next === undefined) show(exchange, errorPage(texts.expired, texts), texts);
    else redirect(exchange, next);
  }

  async #show(exchange: HttpExchange, shown: ShownSignIn & { readonly request: AuthRequest }): Promise<void> {
    const { server, pending, texts } = shown;
    const result = await takeFederatedStep(exchange, { ...shown, logger: this.#logger });
    if (result && "location" in result) return redirect(exchange, result.location);
    const isConsent = pending.interaction.prompt.name === "consent" && !exchange.query.has("other");
    const page =
      isConsent && !result
        ? await consentOf({ server, pending, texts })
        : loginPage({ ...loginFacts(server, pending), ...result }, texts, result ? 403 : 200);
    show(exchange, page, texts);
  }

  /**
   * Handles a submitted form. Resolves with the address to which the browser is redirected, or with the page for the
   * response.
   */
  async #takeForm(exchange: HttpExchange, sent: SentForm): Promise<string | AuthPage> {
    const { server, pending, form, request, texts } = sent;
    const action = form.get("action");
    if (action === "login") return this.#login(exchange, sent);
    if (pending.interaction.prompt.name !== "consent") return errorPage(texts.expired, texts);
    if (action === "allow") return server.finish(request, { consent: { grantId: await server.grant(pending) } });
    const denied = { error: "access_denied", error_description: "The user denied the access." };
    return server.finish(request, denied);
  }

  async #login(
    exchange: HttpExchange,
    { server, pending, form, request, texts }: SentForm,
  ): Promise<string | AuthPage> {
    const [userName, password] = [form.get("user") ?? "", form.get("password") ?? ""];
    const facts = { ...loginFacts(server, pending), userName };
    const key = firstChars(userName.toLowerCase(), MAX_KEY_CHARS);
    const ofUser = server.state.attempts("passwords", PASSWORDS);
    const ofAddress = server.state.attempts("passwords of addresses", PASSWORDS_OF_ADDRESS);
    const waitMs = (await ofAddress.take(exchange.remoteAddress)) || (await ofUser.take(key));
    if (waitMs > 0) return loginPage({ ...facts, problem: waitText(waitMs, texts) }, texts, 429);
    const user = await server.users.find(userName);
    try {
      if (await server.passwords.verify(password, user?.hash)) {
        await ofUser.clear(key);
        await ofAddress.giveBack(exchange.remoteAddress);
        this.#logger.info("A user has signed in.", { user: user!.name, client: pending.client.clientId });
        return await server.finish(request, { login: { accountId: user!.sub, remember: true } });
      }
    } catch (error) {
      if (!(error instanceof TooManyChecks)) throw error;
      return loginPage({ ...facts, problem: waitText(SECOND_MS, texts) }, texts, 429);
    }
    this.#logger.warning("A sign-in failed.", {
      user: firstChars(userName, MAX_KEY_CHARS),
      address: exchange.remoteAddress,
    });
    return loginPage({ ...facts, problem: texts.wrongPassword }, texts, 401);
  }

  /** Counts an attempt on all hubs. Resolves with the milliseconds to wait, or with 0. */
  async #take(name: string, limit: AttemptLimit, key: string): Promise<number> {
    return (await this.#handle.load()).state.attempts(name, limit).take(key);
  }

  #isLimited(exchange: HttpExchange): boolean {
    const waitMs = this.#requests.take(exchange.remoteAddress);
    if (waitMs > 0) refuse(exchange, waitMs);
    return waitMs > 0;
  }
}

interface ShownSignIn {
  readonly server: AuthServer;
  readonly pending: PendingSignIn;
  readonly texts: PageTexts;
}

interface SentForm extends ShownSignIn {
  readonly form: URLSearchParams;
  readonly request: AuthRequest;
}

function loginFacts({ federation }: AuthServer, pending: PendingSignIn): LoginFacts {
  return { csrf: pending.csrf, client: clientLabel(pending.client), providers: federation.providers };
}

async function consentOf({ server, pending, texts }: ShownSignIn): Promise<AuthPage> {
  const { interaction, csrf } = pending;
  const redirect = interaction.params["redirect_uri"];
  const { accountId = "" } = interaction.session ?? {};
  return consentPage(
    {
      csrf,
      client: clientLabel(pending.client),
      user: (await server.users.findBySub(accountId))?.name ?? "",
      ...targetOf(redirect, texts),
      scopes: (interaction.params["scope"] ?? "").split(" ").filter((scope) => scope !== ""),
    },
    texts,
  );
}

/**
 * Returns the text about the address that gets the access, and the CSP sources for a redirect to it. A device has no
 * address.
 */
function targetOf(redirect: string | undefined, texts: PageTexts): Pick<ConsentFacts, "target" | "formActions"> {
  if (redirect === undefined) return { target: texts.deviceRedirect, formActions: [] };
  const { host, isLocal } = redirectTarget(redirect);
  const target = fill(isLocal ? texts.localRedirect : texts.redirect, { host });
  return { target, formActions: [formActionOf(redirect)] };
}

/** Renders the page for an error that must not be sent to the client's redirect address. */
function renderError(context: ErrorContext, out: JsonObject): void {
  const texts = textsFor(context.headers["accept-language"]);
  const reason = String(out["error_description"] ?? out["error"] ?? "");
  context.type = "html";
  context.body = formatPage(errorPage(fill(texts.cannotContinue, { reason }), texts), texts);
}

const MAX_KEY_CHARS = 64;

function waitText(waitMs: number, texts: PageTexts): string {
  return fill(texts.tooManyAttempts, { seconds: String(Math.ceil(waitMs / SECOND_MS)) });
}

function requestOf({ method, path, search, headers, remoteAddress }: HttpExchange, body: Buffer): AuthRequest {
  const url = search === "" ? path : `${path}?${search}`;
  return { method, url, headers: headers as Record<string, string | undefined>, body, remoteAddress };
}

function redirect({ answer }: HttpExchange, location: string): void {
  answer.send(303, ["location", location, "cache-control", "no-store"]);
}

function show(exchange: HttpExchange, page: AuthPage, texts: PageTexts): void {
  exchange.answer.send(page.status, Object.entries(pageHeaders(page.formActions)).flat(), formatPage(page, texts));
}

function refuse({ answer }: HttpExchange, waitMs: number): void {
  const body: JsonObject = {
    error: "temporarily_unavailable",
    error_description: "Too many requests. Try again later.",
  };
  const headers = ["content-type", "application/json", "cache-control", "no-store"];
  answer.send(429, [...headers, "retry-after", String(Math.ceil(waitMs / SECOND_MS))], JSON.stringify(body));
}

function send({ answer }: HttpExchange, { status, headers, body }: BridgedAnswer): void {
  answer.send(status, bridgedHeaders(headers), body);
}
