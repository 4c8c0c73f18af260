import { parseJsonObject } from "../../core/json/json-object-text.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { CodeFlowRefused, type CodeFlow, type CodeFlowClient } from "../../core/ports/code-flow.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { CONSOLE_CALLBACK } from "../builtin/console-client.ts";
import { IssuerMetadata } from "../issuer/issuer-metadata.ts";
import { ProviderClient } from "../issuer/provider-client.ts";
import type { IssuerOptions } from "../options.ts";
import { authorizationQuery, codeOf, refusedBy, tokensOf } from "./token-response.ts";

export interface IssuerFlowParts {
  readonly issuer: IssuerOptions;
  readonly client: CodeFlowClient & { readonly clientId: string };
  /** Scopes that every access token needs. */
  readonly needed: readonly string[];
  readonly environment: ProxyEnvironment;
  readonly baseUrl: string;
  readonly now: () => number;
}

/** Creates the sign-in at an external issuer, whose endpoints are read from its metadata. */
export function issuerFlow({ issuer, client, needed, environment, baseUrl, now }: IssuerFlowParts): CodeFlow {
  const { clientId, scopes, namesResource } = client;
  const provider = new ProviderClient({ issuer: issuer.url, timeoutMs: issuer.timeoutMs, environment });
  const metadata = new IssuerMetadata(provider, issuer.url, now);
  const redirectUri = `${baseUrl}${CONSOLE_CALLBACK}`;
  const resource = namesResource ? `${baseUrl}/mcp` : undefined;
  const ask = async (member: string, body: Readonly<Record<string, string>>): Promise<JsonObject> => {
    const sent = await withCredentials(body, client, await metadata.find("token_endpoint_auth_methods_supported"));
    const { status, body: bytes } = await provider.send(await metadata.address(member), { method: "POST", ...sent });
    const value = parseJsonObject(bytes.toString("utf8")) ?? {};
    if (status === 400 || status === 401) throw refusedBy(value);
    if (status !== 200) throw new Error(`The identity provider at ${new URL(issuer.url).host} answered ${status}.`);
    return value;
  };
  return {
    name: "issuer",
    label: new URL(issuer.url).host,
    redirectUri,
    authorizationUrl: async ({ state, verifier }) => {
      const url = provider.browserUrl(await metadata.address("authorization_endpoint"));
      const facts = { clientId, redirectUri, scopes: [...needed, ...scopes], resource, state, verifier };
      for (const [name, value] of Object.entries(authorizationQuery(facts))) url.searchParams.set(name, value);
      return url.href;
    },
    redeem: async (response, { verifier }) => {
      const isNamed = (await metadata.find("authorization_response_iss_parameter_supported")) === true;
      // RFC 9207 section 2.4: a server that announces `iss` must send it.
      if (isNamed && !response.has("iss")) throw new CodeFlowRefused("The response does not name its issuer.");
      const code = codeOf(response, issuer.url);
      const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri };
      return tokensOf(await ask("token_endpoint", { ...grant, ...(resource !== undefined && { resource }) }), now());
    },
    refresh: async (token) => {
      const grant = { grant_type: "refresh_token", refresh_token: token };
      return tokensOf(await ask("token_endpoint", { ...grant, ...(resource !== undefined && { resource }) }), now());
    },
    revoke: async (token) => void (await ask("revocation_endpoint", { token }).catch(() => {})),
    close: () => provider.close(),
  };
}

/** Adds the client's credentials: in the header if the provider accepts that, else in the body. */
function withCredentials(
  body: Readonly<Record<string, string>>,
  { clientId, clientSecret }: IssuerFlowParts["client"],
  methods: unknown,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const isInBody = clientSecret === undefined || (Array.isArray(methods) && !methods.includes("client_secret_basic"));
  const own = isInBody
    ? { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
    : {};
  const pair = [clientId, clientSecret ?? ""].map(encodeURIComponent).join(":");
  return {
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
      ...(!isInBody && { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }),
    },
    body: new URLSearchParams({ ...body, ...own }).toString(),
  };
}
