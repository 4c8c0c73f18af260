import type { AuthRequest, AuthServer, PendingSignIn } from "../../auth/builtin/auth-server.ts";
import { ProviderSignInError } from "../../auth/builtin/federation/identity-provider.ts";
import type { PageTexts } from "../../auth/builtin/pages/page-texts.ts";
import { fill } from "../../auth/builtin/pages/texts.ts";
import { INTERACTION_PATH } from "../../auth/builtin/provider.ts";
import { ProviderUnavailable } from "../../auth/token-error.ts";
import { OptionError } from "../../core/errors.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { HttpExchange } from "../../http/exchange.ts";

export interface FederatedStep {
  readonly server: AuthServer;
  readonly pending: PendingSignIn;
  readonly request: AuthRequest;
  readonly texts: PageTexts;
  readonly logger: Logger;
}

/** Address for the browser, or the problem that the sign-in page shows. */
export type FederatedResult = { readonly location: string } | { readonly problem: string };

/**
 * Last segment of the address at which a provider's response is checked. The browser sends the sign-in's cookie only to
 * addresses of that sign-in, and this is one of them.
 */
const RESPONSE_SEGMENT = "provider";

/**
 * Resolves with the address at which the browser that started the sign-in continues after a provider's response. The
 * response cannot be checked at the provider's redirect address, because the browser sends the cookie of a sign-in only
 * to the path of that sign-in. Resolves with `undefined` for a response without a pending sign-in.
 */
export async function responseAddress(
  server: AuthServer,
  { path, search, query }: HttpExchange,
): Promise<string | undefined> {
  const id = path.slice(path.lastIndexOf("/") + 1);
  const uid = await server.federation.uidOf(id, query);
  if (uid === undefined) return undefined;
  const base = new URL(server.baseUrl).pathname.replace(/\/$/, "");
  return `${base}${INTERACTION_PATH}/${uid}/${RESPONSE_SEGMENT}/${id}?${search}`;
}

/**
 * Handles a request of the sign-in page that concerns an identity provider. Resolves with `undefined` for any other
 * request.
 */
export function takeFederatedStep(exchange: HttpExchange, step: FederatedStep): Promise<FederatedResult> | undefined {
  const { path, query } = exchange;
  const [, id] = new RegExp(`/${RESPONSE_SEGMENT}/([^/]+)$`).exec(path) ?? [];
  if (id !== undefined && step.server.federation.find(id)) return withProblems(step, id, () => finish(id, query, step));
  const started = query.get("provider");
  if (started === null || !step.server.federation.find(started) || !step.pending.isOwnForm(query.get("csrf") ?? ""))
    return undefined;
  return withProblems(step, started, () => step.server.federation.start(started, step.pending.interaction.jti));
}

async function finish(id: string, query: URLSearchParams, step: FederatedStep): Promise<string> {
  const { server, pending, request, logger } = step;
  const user = await server.federation.finish(id, pending.interaction.jti, query);
  logger.info("A user has signed in.", { user: user.name, client: pending.client.clientId, provider: id });
  return server.finish(request, { login: { accountId: user.sub, remember: true } });
}

/** Turns a refused sign-in into a text for the page, and logs it. */
async function withProblems(
  { server, texts, logger }: FederatedStep,
  id: string,
  run: () => Promise<string>,
): Promise<FederatedResult> {
  const title = server.federation.find(id)?.title;
  try {
    return { location: await run() };
  } catch (error) {
    const isKnown = [ProviderSignInError, ProviderUnavailable, OptionError].some((type) => error instanceof type);
    if (!isKnown || title === undefined) throw error;
    const reason = (error as Error).message;
    logger.warning("A sign-in at an identity provider failed.", { provider: id, reason });
    return { problem: fill(texts.providerFailed, { provider: title, reason }) };
  }
}
