import { stringifyExact } from "../../core/json/exact-json.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { contentDigest } from "../../core/json/digest.ts";
import { adminOperationsOf, type AdminOperation } from "../../core/ports/admin-operations.ts";
import type { View } from "../../core/ports/hub-port.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Mountable } from "../../http/listening/listener.ts";
import { send, sendText } from "./answer.ts";
import type { RestExchange } from "./rest-exchange.ts";
import type { DocumentSource } from "./openapi/document.ts";
import type { RestOptions } from "./options.ts";
import type { RestParts } from "./ports.ts";
import { mountPath } from "./mount-path.ts";
import { DOCS_PATH, OPENAPI_PATH } from "../paths.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** An OpenAPI document, and its text without `servers`, which depends on how each caller reaches the hub. */
interface OpenApiText {
  readonly document: JsonObject;
  readonly text: string;
}

/** Maximum number of cached documents, for all views and all states of the catalog together. */
const MAX_KEPT = 8;

/**
 * Serves `/openapi.json` and `/docs`, which describe the operations that a caller may use. Both are built once per
 * catalog state and view.
 */
export class DescriptionEndpoint {
  readonly #parts: RestParts;
  readonly #options: RestOptions;
  readonly #viewOf: (exchange: RestExchange) => View;
  readonly #kept = new Map<string, Promise<OpenApiText>>();

  constructor(parts: RestParts, options: RestOptions, viewOf: (exchange: RestExchange) => View) {
    this.#parts = parts;
    this.#options = options;
    this.#viewOf = viewOf;
  }

  mount(listener: Mountable): void {
    mountPath(listener, OPENAPI_PATH, { GET: (exchange) => this.#sendDocument(exchange) });
    mountPath(listener, DOCS_PATH, { GET: (exchange) => this.#sendPage(exchange) });
  }

  async #sendDocument(exchange: RestExchange): Promise<void> {
    const { text } = await this.#describe(exchange);
    sendText(exchange.answer, `{"servers":[{"url":${JSON.stringify(exchange.http.baseUrl)}}],${text.slice(1)}`);
  }

  async #sendPage(exchange: RestExchange): Promise<void> {
    const { query, baseUrl } = exchange.http;
    const { PAGE_POLICY, renderPage } = await import("./openapi/page.ts");
    const { document } = await this.#describe(exchange);
    const page = renderPage(document, baseUrl, {
      filter: firstChars(query.get("filter") ?? "", MAX_FILTER),
      page: Number(query.get("page")) || 1,
    });
    send(exchange.answer, page, {
      status: 200,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": PAGE_POLICY,
        "referrer-policy": "no-referrer",
      },
    });
  }

  async #describe(exchange: RestExchange): Promise<OpenApiText> {
    const { hub, chat, access } = this.#parts;
    const hasChat = chat() !== undefined;
    const view = this.#viewOf(exchange);
    const [list, facts, routes, admin] = await Promise.all([
      hub.list("tools", view),
      hub.facts(view.principal),
      this.#routes(view),
      this.#admin(view),
    ]);
    const routeTools = routes.flatMap(({ tool }) => (tool ? [tool] : []));
    const key =
      `${list.version} ${hasChat} ${admin.length} ${routes.map(({ tool }) => (tool ? "1" : "0")).join("")} ` +
      `${contentDigest(stringifyExact(routeTools))}`;
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const source: DocumentSource = {
      title: facts.title ?? facts.name,
      version: facts.version,
      basePath: this.#options.basePath,
      tools: list.entries,
      routes,
      hasChat,
      admin,
      isGuarded: access.isGuarded,
      securitySchemes: access.securitySchemes?.(),
    };
    const described = write(source);
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(key, described);
    described.catch(() => this.#kept.delete(key));
    return described;
  }

  /**
   * Returns the operations of the administration API that this caller may use. Returns none for the address of a
   * profile.
   */
  async #admin({ principal }: View): Promise<readonly AdminOperation[]> {
    if (principal.profile) return [];
    const all = await adminOperationsOf(this.#parts.access);
    return permissionOf(principal.rights).isNarrowed ? all.filter(({ needs }) => needs === "any") : all;
  }

  /** Returns the configured paths that this caller may use. */
  async #routes(view: View): Promise<DocumentSource["routes"]> {
    const all = await Promise.all(
      this.#options.routes.map(async (route) => {
        if (route.target === "chat") return this.#parts.chat() ? [{ route }] : [];
        const lookup = await this.#parts.tools.describeTool(route.target.tool, view);
        if (lookup.found) return [{ route, tool: lookup.entry }];
        return lookup.failure.kind === "denied" ? [] : [{ route }];
      }),
    );
    return all.flat();
  }
}

async function write(source: DocumentSource): Promise<OpenApiText> {
  // Loaded on the first request, because most hubs never serve it.
  const { createDocument } = await import("./openapi/document.ts");
  const document = await createDocument(source);
  await nextTurn();
  return { document, text: stringifyExact(document) };
}

const MAX_FILTER = 200;
