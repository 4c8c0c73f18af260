import { Refusal } from "../answer/refusal.ts";
import type { HttpRequest } from "../wire.ts";

/**
 * Refuses requests that a page of another site causes. A link or a redirect may open a document of this hub, but a
 * request that runs or reads something must come from the user's own action. A request with an `Origin` passes, because
 * its origin was checked before.
 */
export function assertOwnPage(request: Pick<HttpRequest, "header">): void {
  if (isFromOtherSite(request) && !request.header("origin"))
    throw new Refusal(403, "Invalid request: a page of another site leads here. Open the address by itself instead.");
}

/** Refuses images, scripts, frames, forms and similar requests by a page of another site. */
export function assertNoForeignLoad(request: HttpRequest): void {
  if (!isFromOtherSite(request) || request.header("origin")) return;
  const isLink = request.header("sec-fetch-dest") === "document" && /^(GET|HEAD)$/.test(request.method);
  if (!isLink) throw new Refusal(403, "Invalid request: a page of another site loads this. Open it by itself instead.");
}

/**
 * Returns true for a request of a page from another site. Browsers treat all ports of one machine as one site, so
 * `same-site` may be a page of another user.
 */
function isFromOtherSite(request: Pick<HttpRequest, "header">): boolean {
  const site = request.header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}
