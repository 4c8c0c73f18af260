/** Type of a given request, as text for messages. */
export type RequestKind = "a standard Request" | "Node's request" | "Fastify's request" | "a context of Hono";

/**
 * Returns the type of a request by its methods, because frameworks and runtimes have their own classes. Returns
 * `undefined` if it is unknown.
 */
export function requestKind(value: unknown): RequestKind | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value["pipe"] === "function" && isObject(value["headers"]) && isObject(value["socket"]))
    return "Node's request";
  const { headers, raw, req } = value;
  if (isObject(headers) && typeof headers["get"] === "function" && typeof value["url"] === "string")
    return "a standard Request";
  if (requestKind(raw) === "Node's request") return "Fastify's request";
  return isObject(req) && requestKind(req["raw"]) === "a standard Request" ? "a context of Hono" : undefined;
}

/** Advice for each type of request. */
const ADVICE: Readonly<Record<RequestKind, string>> = {
  "a standard Request": "give it to `fetch` of `await hub.serveFetch()`",
  "Node's request": "give request and response to `hub.nodeHandler()`",
  "Fastify's request": "give request and reply to `hub.nodeHandler()`",
  "a context of Hono": "give `context.req.raw` to `fetch` of `await hub.serveFetch()`",
};

/** Returns the error for a request of the wrong type. */
export function wrongRequest(taker: string, wanted: string, given: unknown): TypeError {
  const kind = requestKind(given);
  const received = kind ?? (given === null ? "null" : `a value of type ${typeof given}`);
  const advice = kind === undefined ? "see the guide's page on frameworks" : ADVICE[kind];
  return new TypeError(`${taker} takes ${wanted}, and was given ${received}: ${advice}.`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
