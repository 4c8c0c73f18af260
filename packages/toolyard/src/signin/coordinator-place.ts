import { CALLBACK_PATH, CLIENT_DOCUMENT_PATH, type SignInCoordinator } from "../core/ports/sign-in-coordinator.ts";
import type { BrowserGuard } from "./browser-guard.ts";
import { takeBack, type OpenPlace } from "./redirect.ts";
import type { Holder } from "../core/fairness/shares.ts";

/**
 * Returns a place at which the browser returns to the hub's own page. `owner`: principal and source of the sign-in.
 */
export function deskPlace(desk: SignInCoordinator, address: string, owner: Holder): OpenPlace {
  return async (handlers) => {
    const { guard } = handlers;
    const leave = desk.wait({
      owner,
      end: () => handlers.onDisplaced?.(),
      page: (request) => (isOf(guard, request.path) ? guard.serve(request) : undefined),
      back: (request) => takeBack(request, handlers),
    });
    return {
      uri: `${address}${CALLBACK_PATH}`,
      at: (path) => `${address}${path}`,
      close: async () => leave(),
    };
  };
}

function isOf(guard: BrowserGuard | undefined, path: string): guard is BrowserGuard {
  return guard !== undefined && guard.path === path;
}

/** Returns the address of the client-ID metadata document; undefined unless the hub is reached by https. */
export function ownDocument(redirectUri: string): string | undefined {
  const { protocol } = new URL(redirectUri);
  const isOwn = protocol === "https:" && redirectUri.endsWith(CALLBACK_PATH);
  return isOwn ? `${redirectUri.slice(0, -CALLBACK_PATH.length)}${CLIENT_DOCUMENT_PATH}` : undefined;
}
