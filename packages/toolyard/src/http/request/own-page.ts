import { Refusal } from "../answer/refusal.ts";
import type { HttpRequest } from "../wire.ts";

/**
 * Refuses what a page of another site leads to. A link or a redirect opens a document of its own, and is welcome to
 * look at this hub; but what runs or reads something must be asked for by whoever sits here. An `Origin` was checked
 * already: such a page may call.
 */
export function assertOwnPage(request: Pick<HttpRequest, "header">): void {
  if (isFromElsewhere(request) && !request.header("origin"))
    throw new Refusal(403, "Invalid request: a page of another site leads here. Open the address by itself instead.");
}

/** Refuses images, scripts, frames, forms and the like of a page of another site. */
export function assertNoForeignLoad(request: HttpRequest): void {
  if (!isFromElsewhere(request) || request.header("origin")) return;
  const isLink = request.header("sec-fetch-dest") === "document" && /^(GET|HEAD)$/.test(request.method);
  if (!isLink) throw new Refusal(403, "Invalid request: a page of another site loads this. Open it by itself instead.");
}

/** To browsers all ports of one machine are one site, so `same-site` may be a page of anybody here. */
function isFromElsewhere(request: Pick<HttpRequest, "header">): boolean {
  const site = request.header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}
