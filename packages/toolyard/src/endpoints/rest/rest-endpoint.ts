import { tracedRoutes } from "./traced-routes.ts";
import { FailError } from "../../core/errors.ts";
import type { View } from "../../core/ports/hub-port.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { SearchFilter } from "../../core/ports/ports.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import { resourceValue, toolValue } from "../../core/calls/tool-value.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { assertOwnPage } from "../../http/request/own-page.ts";
import { Refusal } from "../../http/answer/refusal.ts";
import { isYes, sendFailure, sendValue, shown, wantsFull } from "./answer.ts";
import { Calls } from "./calls.ts";
import { readChat, runChat } from "./chat.ts";
import { DescriptionEndpoint } from "./description-endpoint.ts";
import type { RestExchange } from "./rest-exchange.ts";
import { pageOf, readPageOptions, readLimit } from "./list-page.ts";
import type { RestOptions, RestRoute } from "./options.ts";
import type { RestParts } from "./ports.ts";
import { queryArguments } from "./query-arguments.ts";
import { mountPath } from "./mount-path.ts";
import { mountRoutes } from "./mount-routes.ts";
import { otherPathsBelow } from "./places.ts";
import { prefersAsync, TaskRoutes } from "./task-routes.ts";
import { refusalText } from "./refusal-text.ts";
import type { Endpoint } from "../endpoint.ts";
import { defaultModeFor, toolModeOfRequest } from "../tool-mode.ts";
import { toolNamesOfRequest, withToolNames } from "../tool-names.ts";
import { sendRaw } from "./resource-answer.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Number of search results if the request gives no limit. */
const DEFAULT_HITS = 5;

/**
 * REST endpoint. Each tool is called by one POST request; configured paths lead to tools under names that the operator
 * chose. Values are plain JSON (C12). Failures are `{error: {kind, message, …}}` with the status of the outcome code.
 */
export class RestEndpoint implements Endpoint {
  readonly #parts: RestParts;
  readonly #options: RestOptions;
  readonly #calls: Calls;
  readonly #tasks: TaskRoutes;

  constructor(parts: RestParts, options: RestOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#calls = new Calls(parts.hub, parts.logger);
    this.#tasks = new TaskRoutes(parts.tasks, options.basePath);
  }

  mount(given: Mountable): void {
    const { tracing } = this.#parts;
    const listener = tracing ? tracedRoutes(given, tracing) : given;
    const { basePath: base, routes } = this.#options;
    const tools = `${base}/tools`;
    mountPath(listener, tools, { GET: (exchange) => this.#listTools(exchange) });
    mountPath(listener, `${tools}/*`, {
      GET: (exchange) => this.#describeTool(exchange, nameIn(exchange, tools)),
      POST: async (exchange) =>
        this.#callTool(exchange, nameIn(exchange, tools), await exchange.readObject("the tool's arguments")),
    });
    this.#tasks.mount(listener);
    mountPath(listener, `${base}/resources`, { GET: (exchange) => this.#resources(exchange) });
    mountPath(listener, `${base}/chat`, { POST: (exchange) => this.#chat(exchange) });
    mountRoutes(listener, routes, {
      logger: this.#parts.logger,
      isKnown: (exchange, route) => this.#isKnown(exchange, route),
      answer: (exchange, route) => this.#route(exchange, route),
    });
    if (this.#options.hasDescription)
      new DescriptionEndpoint(this.#parts, this.#options, (exchange) => this.#viewOf(exchange)).mount(listener);
    listener.route(otherPathsBelow(base), () => notFound(base), refusalText);
  }

  giveUp(): void {
    this.#calls.giveUp();
  }

  close(): void {
    this.#calls.giveUp();
  }

  #viewOf({ http }: RestExchange): View {
    const principal = withToolNames(http.principal, toolNamesOfRequest(http) ?? this.#options.toolNames);
    return { mode: toolModeOfRequest(http) ?? defaultModeFor(principal, this.#parts.defaultMode), principal };
  }

  async #listTools(exchange: RestExchange): Promise<void> {
    const { query } = exchange.http;
    const view = this.#viewOf(exchange);
    const wanted = query.get("query") ?? query.get("q");
    if (wanted !== null) {
      const bounds = { ...searchFilter(query), nearest: true, limit: readLimit(query) ?? DEFAULT_HITS };
      const { hits, total, instead, wordsAlone } = await this.#parts.tools.search(wanted, view, bounds);
      const facts = { ...(instead && { instead }), ...(wordsAlone && { wordsAlone }) };
      return sendValue(exchange.answer, { tools: hits, total, ...facts });
    }
    const { name, ...wish } = readPageOptions(query);
    // Model names have `_` instead of `.`. The pattern is converted in the same way, so that it selects the same tools.
    const glob = view.principal.toolNames === "model" ? name?.replaceAll(".", "_") : name;
    const list = await this.#parts.hub.list("tools", view);
    const { entries, ...page } = pageOf(list, { ...wish, ...(glob !== undefined && { name: glob }) });
    sendValue(exchange.answer, { tools: entries, ...page });
  }

  async #describeTool(exchange: RestExchange, name: string): Promise<void> {
    const lookup = await this.#parts.tools.describeTool(name, this.#viewOf(exchange));
    if (lookup.found) sendValue(exchange.answer, lookup.entry);
    else sendFailure(exchange.answer, lookup.failure);
  }

  async #callTool(exchange: RestExchange, target: string, args: JsonObject): Promise<void> {
    if (prefersAsync(exchange)) return this.#started(exchange, () => this.#tasks.start(exchange, target, args));
    const isFull = wantsFull(exchange.http, exchange.http.query);
    this.#answer(exchange, await this.#run(exchange, target, args), isFull);
  }

  async #started(exchange: RestExchange, start: () => Promise<void>): Promise<void> {
    try {
      await start();
    } catch (error) {
      if (!(error instanceof FailError)) throw error;
      exchange.fail(error.failure);
    }
  }

  #run(exchange: RestExchange, target: string, args: JsonObject): Promise<Outcome> {
    return this.#calls.run({ method: "tools/call", target, args }, this.#viewOf(exchange), exchange);
  }

  #answer(exchange: RestExchange, outcome: Outcome, isFull: boolean): void {
    if (outcome.ok) exchange.succeed(shown(outcome.result, isFull, toolValue));
    else exchange.fail(outcome, isFull);
  }

  async #resources(exchange: RestExchange): Promise<void> {
    const { query } = exchange.http;
    const uri = query.get("uri");
    if (uri !== null) return this.#readResource(exchange, uri);
    const view = this.#viewOf(exchange);
    const [list, templates] = await Promise.all([
      this.#parts.hub.list("resources", view),
      this.#parts.hub.list("templates", view),
    ]);
    const { entries, ...page } = pageOf(list, readPageOptions(query));
    sendValue(exchange.answer, { resources: entries, resourceTemplates: templates.entries, ...page });
  }

  async #readResource(exchange: RestExchange, uri: string): Promise<void> {
    assertOwnPage(exchange.http);
    const { query } = exchange.http;
    const outcome = await this.#calls.run({ method: "resources/read", target: uri }, this.#viewOf(exchange), exchange);
    if (!outcome.ok) return exchange.fail(outcome);
    if (!query.has("raw") || !isYes(query.get("raw")))
      return exchange.succeed(shown(outcome.result, wantsFull(exchange.http, query), resourceValue));
    const failure = sendRaw(exchange.answer, outcome.result);
    if (failure) exchange.fail(failure);
  }

  async #chat(exchange: RestExchange): Promise<void> {
    const body = readChat(await exchange.readObject("`message`"));
    const chat = this.#parts.chat();
    if (chat && prefersAsync(exchange))
      return this.#started(exchange, () => this.#tasks.startChat(exchange, chat, body));
    const request = { ...body, principal: exchange.http.principal };
    const outcome = await this.#calls.guard(exchange, () => runChat(chat, request, exchange));
    if (outcome.ok) exchange.succeed(outcome.reply, "reply");
    else exchange.fail(outcome);
  }

  async #route(exchange: RestExchange, { method, target, fixed }: RestRoute): Promise<void> {
    if (target === "chat") return this.#chat(exchange);
    assertOwnPage(exchange.http);
    const isRead = method === "GET" || method === "DELETE";
    const given = isRead
      ? await this.#queryArguments(exchange, target.tool)
      : await exchange.readObject("the tool's arguments");
    // On a configured path, `full` may be a parameter of the tool, so only the header counts.
    const isFull = wantsFull(exchange.http, NO_QUERY);
    const outcome = await this.#run(exchange, target.tool, { ...given, ...fixed });
    this.#answer(exchange, outcome, isFull);
  }

  /**
   * Resolves to true if the caller may know the path. A caller with narrowed rights must not learn that a path exists
   * whose target it may not use.
   */
  async #isKnown({ principal }: HttpExchange, { target }: RestRoute): Promise<boolean> {
    if (target === "chat" || !permissionOf(principal.rights).isNarrowed) return true;
    return (await this.#parts.tools.describeTool(target.tool, { mode: "all", principal })).found;
  }

  async #queryArguments(exchange: RestExchange, tool: string): Promise<JsonObject> {
    const lookup = await this.#parts.tools.describeTool(tool, this.#viewOf(exchange));
    const schema = lookup.found ? (lookup.entry["inputSchema"] as JsonObject) : {};
    return queryArguments(exchange.http.query, schema);
  }
}

/** Returns the filter of `?server=`, `?read_only=` (as in `tool_search`) and `?why=`. */
function searchFilter(query: URLSearchParams): SearchFilter {
  const server = query.get("server");
  return {
    ...(server !== null && { server }),
    readOnly: query.has("read_only") && isYes(query.get("read_only")),
    why: query.has("why") && isYes(query.get("why")),
  };
}

const NO_QUERY = new URLSearchParams();

/** Returns the name after a prefix. A name may contain a slash, escaped or not. */
function nameIn({ http }: RestExchange, prefix: string): string {
  const text = http.path.slice(prefix.length + 1);
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, `The tool's name ${JSON.stringify(firstChars(text, 200))} is not a valid piece of a URL.`);
  }
}

function notFound(base: string): never {
  throw new Refusal(
    404,
    `There is nothing at this path. \`GET ${base}/tools\` lists the tools, \`POST ${base}/tools/{name}\` calls one.`,
  );
}
