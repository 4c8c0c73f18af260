import { FailError } from "../../core/errors.ts";
import { VERSION } from "../../core/version.ts";
import { NOBODY, type HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { Refusal, sendRefusal } from "../../http/answer/refusal.ts";
import { sendEmpty } from "../../http/answer/send.ts";
import type { Endpoint } from "../../endpoints/endpoint.ts";
import { sendValue } from "../../endpoints/rest/answer.ts";
import { Calls } from "../../endpoints/rest/calls.ts";
import { RestExchange } from "../../endpoints/rest/rest-exchange.ts";
import { refusalText } from "../../endpoints/rest/refusal-text.ts";
import { callerOf, permitOf, relayedCaller, type AdminCaller, type StreamPermit } from "./access/admin-caller.ts";
import type { CodeSignIn } from "./access/code-sign-in.ts";
import { openSessions } from "./access/open-sessions.ts";
import { SessionEndpoint } from "./access/session-endpoint.ts";
import { LINK_MS, type Sessions } from "./access/sessions.ts";
import { adminRoutes } from "./api/admin-routes.ts";
import type { ConsoleLink } from "./api/contract.ts";
import { answerRoute, type AdminRoute } from "./api/route.ts";
import type { SessionInfo } from "./api-types.ts";
import { AppDocuments, hubOfApp } from "./app-documents.ts";
import { Assets } from "./assets.ts";
import { EventBoard } from "./event-board.ts";
import { chosenHub, passOn, watchPermit } from "./hubs/hub-choice.ts";
import type { ConsoleOptions } from "./options.ts";
import type { ConsoleParts } from "./parts.ts";
import { ADMIN_PATH, CONSOLE_PATH, CONSOLE_PLACES } from "./paths.ts";

/** Title of the sign-in page. It does not name the hub, because the reader is not authenticated. */
const TITLE = "Toolyard";
/** Pages of MCP Apps, below the page of the console. */
const APP_PATH = "/app/";
const TOPICS = ["state", "calls", "logs"];

/** The page at `/console`, its sessions, and the API at `/api/admin`. */
export class ConsoleEndpoint implements Endpoint {
  readonly #parts: ConsoleParts;
  readonly #options: ConsoleOptions;
  readonly #sessions: Sessions;
  readonly #codes: CodeSignIn;
  readonly #signIn: SessionEndpoint;
  readonly #calls: Calls;
  readonly #board: EventBoard;
  readonly #apps: AppDocuments;
  readonly #routes: readonly AdminRoute[];
  /** Requests that open and end sessions, which need no session. */
  readonly #openRoutes: ReadonlyMap<string, (exchange: HttpExchange) => Promise<void> | void> = new Map([
    ["POST session", (exchange) => this.#signIn.open(exchange, TITLE)],
    ["DELETE session", (exchange) => this.#signIn.end(exchange)],
    ["GET sign-in", (exchange) => this.#codes.begin(exchange)],
    ["GET callback", (exchange) => this.#signIn.complete(exchange, TITLE)],
  ]);
  #assets: Assets | undefined;

  constructor(parts: ConsoleParts, options: ConsoleOptions) {
    this.#parts = parts;
    this.#options = options;
    const { codes, sessions } = openSessions(parts, options);
    this.#sessions = sessions;
    this.#codes = codes;
    this.#apps = new AppDocuments({ hub: parts.hubs?.list.own });
    this.#signIn = new SessionEndpoint({
      access: parts.access,
      sessions: this.#sessions,
      codes: this.#codes,
      sessionMs: options.sessionMs,
    });
    this.#calls = new Calls(parts.hub, parts.logger, "console");
    this.#board = new EventBoard(parts, options.eventsPerSecond);
    this.#routes = adminRoutes({ ...parts, apps: this.#apps }, this.#calls);
  }

  mount(listener: Mountable): void {
    const [page, below, admin, adminBelow] = CONSOLE_PLACES;
    listener.route(page!, (exchange) => this.#page(exchange), refusalText);
    listener.route(below!, (exchange) => this.#page(exchange), refusalText);
    listener.route(admin!, (exchange) => this.#admin(exchange), refusalText);
    listener.route(adminBelow!, (exchange) => this.#admin(exchange), refusalText);
  }

  giveUp(): void {
    this.#calls.giveUp();
    this.#board.close();
  }

  close(): void {
    this.giveUp();
    void this.#codes.close();
  }

  async #page(exchange: HttpExchange): Promise<void> {
    const path = exchange.path.slice(CONSOLE_PATH.length);
    // The location is relative, so that it is correct behind a proxy that adds a path.
    if (path === "") return exchange.answer.send(308, ["location", "./console/"]);
    if (path === "/sign-in") return this.#signIn.showForm(exchange, TITLE);
    if (path.startsWith(APP_PATH)) return this.#app(exchange, path.slice(APP_PATH.length));
    this.#assets ??= new Assets();
    if (path === "/") return this.#assets.sendIndex(exchange);
    return this.#assets.sendAsset(exchange, path.replace(/^\/assets\//, ""));
  }

  async #admin(exchange: HttpExchange): Promise<void> {
    if (exchange.method === "OPTIONS") return sendEmpty(exchange.answer, 204);
    const path = exchange.path.slice(ADMIN_PATH.length + 1);
    const open = this.#openRoutes.get(`${exchange.method} ${path}`);
    if (open) return open(exchange);
    const { access, hubs } = this.#parts;
    const caller = await callerOf(exchange, { access, sessions: this.#sessions, ...this.#admins });
    const hub = hubs && path !== "links" ? chosenHub(exchange, hubs.list.own) : undefined;
    if (!hubs || hub === undefined) return this.#serve(exchange, caller, path);
    if (path === "events") watchPermit(exchange, permitOf(exchange, caller, { access, sessions: this.#sessions }));
    return passOn(exchange, { hub, principal: caller.principal, relay: hubs.relay });
  }

  /** Answers a request that another hub has passed to this one. That hub has authenticated the caller. */
  async serveRelayed(exchange: HttpExchange): Promise<void> {
    try {
      const { path } = exchange;
      const app = `${CONSOLE_PATH}${APP_PATH}`;
      if (path.startsWith(app)) return this.#apps.send(exchange, path.slice(app.length));
      const caller = relayedCaller(exchange.principal, { access: this.#parts.access, ...this.#admins });
      await this.#serve(exchange, caller, path.slice(ADMIN_PATH.length + 1));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      sendRefusal(exchange.answer, error, refusalText(error));
    }
  }

  get #admins(): Pick<ConsoleOptions, "admins"> {
    const { admins } = this.#options;
    return admins ? { admins } : {};
  }

  /** Sends the page of a tool, which another hub may have. The address is the credential. */
  #app(exchange: HttpExchange, address: string): void | Promise<void> {
    const { hubs } = this.#parts;
    const hub = hubOfApp(exchange, address);
    if (!hubs || hub === undefined || hub === hubs.list.own) return this.#apps.send(exchange, address);
    return passOn(exchange, { hub, principal: NOBODY, relay: hubs.relay });
  }

  async #serve(exchange: HttpExchange, caller: AdminCaller, path: string): Promise<void> {
    exchange.answer.setHeader("cache-control", "no-store");
    if (path === "events") return this.#events(exchange, caller);
    if (path === "session") return sendValue(exchange.answer, await this.#sessionInfo(exchange, caller));
    if (path === "links" && exchange.method === "POST")
      return sendValue(exchange.answer, await this.#link(exchange, caller));
    if (path === "") {
      const routes = this.#routes.map((route) => ({ method: route.method, path: route.path, summary: route.summary }));
      return sendValue(exchange.answer, { routes });
    }
    const view = { mode: "all", principal: caller.principal } as const;
    await answerRoute({ routes: this.#routes, audit: this.#parts.audit }, path, {
      exchange: new RestExchange(exchange),
      caller,
      view,
      query: exchange.query,
    });
  }

  async #sessionInfo(exchange: HttpExchange, caller: AdminCaller): Promise<SessionInfo> {
    const { hub, hubs, tools, hubControl, chat } = this.#parts;
    const { principal, by, seesAll, mayChange, isReadOnlyHub, adminLimits } = caller;
    const { identity, id, roles = [] } = principal;
    const facts = await hub.facts(principal, { waits: false });
    return {
      title: facts.title ?? facts.name,
      version: VERSION,
      by,
      caller: { id, roles, ...(identity && { name: identity.name }) },
      seesAll,
      mayChange,
      ...(adminLimits && { adminLimits }),
      isReadOnlyHub,
      hasCode: tools.nameOf("execute_code", principal) !== undefined,
      hasChat: chat() !== undefined,
      mcpUrl: exchange.mcpUrl,
      files: seesAll ? hubControl().files : [],
      ...(hubs && { hub: hubs.list.own }),
    };
  }

  /** Handles `POST links`: creates a link that signs in a browser once, with the credentials of this request. */
  async #link(exchange: HttpExchange, { authorization }: AdminCaller): Promise<ConsoleLink> {
    const page = `${exchange.baseUrl}${CONSOLE_PATH}/`;
    if (authorization === undefined) return { url: page };
    const code = await this.#sessions.createLink(authorization);
    return { url: `${page}#code=${code}`, validSeconds: LINK_MS / 1000 };
  }

  async #events(exchange: HttpExchange, caller: AdminCaller): Promise<void> {
    if (exchange.method !== "GET") throw new Refusal(405, "Method not allowed.", { allow: "GET" });
    if (this.#board.size >= this.#options.maxStreams)
      throw new Refusal(503, "Too many event streams are open. `max_streams` of `[console]` is the limit.", {
        "retry-after": "5",
      });
    const uri = exchange.query.get("uri") ?? undefined;
    const unsubscribe = uri === undefined ? undefined : await this.#subscribe(uri, caller);
    const topics = new Set((exchange.query.get("topics") ?? TOPICS.join()).split(","));
    const stream = exchange.openStream({ "x-content-type-options": "nosniff" });
    // The signal lives as long as the listener, so the abort handler is removed with its stream. Otherwise the signal
    // would keep every ended stream in memory.
    const end = (): void => stream.end();
    exchange.closing.addEventListener("abort", end, { once: true });
    stream.onClosed(() => {
      exchange.closing.removeEventListener("abort", end);
      unsubscribe?.().catch(() => {});
    });
    const lastId = exchange.header("last-event-id");
    const permit = this.#permit(exchange, caller);
    this.#board.add(stream, caller, { topics, lastId, permit, ...(uri !== undefined && { uri }) });
  }

  /** The hub that has passed a stream on also checks its caller. */
  #permit(exchange: HttpExchange, caller: AdminCaller): StreamPermit {
    if (exchange.relayedFrom !== undefined) return { isOver: () => false, renew: async () => true };
    return permitOf(exchange, caller, { access: this.#parts.access, sessions: this.#sessions });
  }

  /** Subscribes to a resource with the rights of the caller. Throws a `Refusal`. */
  async #subscribe(uri: string, { principal }: AdminCaller): Promise<() => Promise<void>> {
    try {
      return await this.#parts.hub.subscribe(uri, { principal, client: { capabilities: {} } });
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      throw new Refusal(error.failure.kind === "denied" ? 403 : 422, error.failure.message);
    }
  }
}
