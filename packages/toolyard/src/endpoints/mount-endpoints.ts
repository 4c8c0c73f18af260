import type { HttpExchange } from "../http/exchange.ts";
import { withRoute, type Mountable } from "../http/listening/listener.ts";
import type { Handler } from "../http/router.ts";
import { sendText } from "../http/answer/send.ts";
import type { Endpoint, SharedPage } from "./endpoint.ts";

/** Methods of a path that only serves a shared page. Requests that are not for the page get 404. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Mounts endpoints in their order. A browser gets a shared page at its path; other requests go to the endpoint at this
 * path. If several endpoints have a page for the path, the page of the last one is used.
 */
export function mountEndpoints(endpoints: readonly Endpoint[], listener: Mountable): void {
  const pages = endpoints.flatMap((endpoint) => endpoint.pages ?? []).toReversed();
  const mounted = new Set<string>();
  const shared = withRoute(listener, (place, handler, refusalBody) => {
    mounted.add(place.path);
    const own = pages.filter(({ path }) => path === place.path);
    if (own.length === 0) return listener.route(place, handler, refusalBody);
    const signInAt = own.find((page) => page.signInAt !== undefined)?.signInAt;
    const shown = signInAt === undefined ? place : { ...place, signInAt };
    listener.route(shown, withPages(own, handler), refusalBody);
  });
  for (const endpoint of endpoints) endpoint.mount(shared);
  for (const { path } of pages) if (!mounted.has(path)) shared.route({ methods: METHODS, path }, notFound);
}

function withPages(pages: readonly SharedPage[], handler: Handler): Handler {
  return (exchange) => {
    const page = pages.find((one) => one.wants(exchange));
    return page ? page.serve(exchange) : handler(exchange);
  };
}

function notFound({ answer }: HttpExchange): void {
  sendText(answer, 404, "Not Found");
}
