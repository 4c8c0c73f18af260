import type { RoutePlace } from "../../http/router.ts";
import { DOCS_PATH, OPENAPI_PATH } from "../paths.ts";
import type { RestOptions } from "./options.ts";

const ANY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Every place that REST is mounted at. */
export function restPlaces({ basePath: base, routes, hasDescription }: RestOptions): readonly RoutePlace[] {
  const own = new Map<string, readonly string[]>([
    [`${base}/tools`, ["GET"]],
    [`${base}/tools/*`, ["GET", "POST"]],
    [`${base}/resources`, ["GET"]],
    [`${base}/chat`, ["POST"]],
  ]);
  for (const { path, method } of routes) own.set(path, [...(own.get(path) ?? []), method]);
  if (hasDescription) for (const path of [OPENAPI_PATH, DOCS_PATH]) own.set(path, ["GET"]);
  return [...[...own].map(([path, answered]) => ({ path, methods: methodsOf(answered) })), elsewhereBelow(base)];
}

/** Whatever is nowhere else below the base path. */
export function elsewhereBelow(base: string): RoutePlace {
  return { path: `${base}/*`, methods: ANY_METHOD };
}

/** `HEAD` is a `GET` without its body, and `OPTIONS` names the methods. */
export function methodsOf(answered: readonly string[]): readonly string[] {
  return [...answered, ...(answered.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
}
