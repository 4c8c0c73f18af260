import { randomUUID } from "node:crypto";
import type { Access } from "../../../packages/toolyard/src/core/access.ts";
import { Type } from "../../../packages/toolyard/src/core/options/option-schema.ts";
import { EVERYTHING } from "../../../packages/toolyard/src/core/ports/rights.ts";
import { serviceKey } from "../../../packages/toolyard/src/core/service-key.ts";
import { defineEndpoint } from "../../../packages/toolyard/src/endpoints/endpoint.ts";
import { sendJson } from "../../../packages/toolyard/src/http/answer/send.ts";
import { defineFeature } from "../../../packages/toolyard/src/kernel/feature.ts";

interface Reads {
  readonly token_server?: { readonly clients?: Readonly<Record<string, string>> };
}

/** Access tokens by client. */
class Issuer {
  readonly #tokens = new Map<string, string>();
  readonly #clients: () => Readonly<Record<string, string>>;

  constructor(clients: () => Readonly<Record<string, string>>) {
    this.#clients = clients;
  }

  issue(client: string, secret: string): string | undefined {
    if (this.#clients()[client] !== secret) return undefined;
    const token = randomUUID();
    this.#tokens.set(token, client);
    return token;
  }

  clientOf(token: string): string | undefined {
    return this.#tokens.get(token);
  }
}

const ISSUER = serviceKey<Issuer>()("issuer");
const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Client credentials grant at `/token`. */
const TOKEN_ENDPOINT = defineEndpoint({
  schema: { token_server: Type.Optional(Type.Object({ clients: Type.Optional(Type.Record(Type.Secret())) })) },
  paths: ["/token"],
  uses: [ISSUER],
  resolve: ({ token_server: server }) => server,
  open: async (_options, { issuer }) => ({
    mount: (listener) =>
      listener.route({ methods: ["POST"], path: "/token", isOpen: true }, async (exchange) => {
        const form = new URLSearchParams((await exchange.readBody(1024)).toString("utf8"));
        const token = issuer.issue(form.get("client_id") ?? "", form.get("client_secret") ?? "");
        const body = token === undefined ? { error: "invalid_client" } : { access_token: token, token_type: "Bearer" };
        sendJson(exchange.answer, token === undefined ? 401 : 200, JSON.stringify(body));
      }),
    giveUp: () => {},
    close: () => {},
  }),
});

/** A feature with an authorization server inside of the hub. */
export const AUTHORIZATION_SERVER = defineFeature({
  name: "authorization-server",
  provides: [ISSUER],
  endpoints: [TOKEN_ENDPOINT],
  start: (_services, config: () => Reads) => {
    const issuer = new Issuer(() => config().token_server?.clients ?? {});
    const principals = (): number => Object.keys(config().token_server?.clients ?? {}).length;
    return {
      services: { issuer },
      access: {
        plan: () => (config().token_server ? { mode: "oauth", isGuarded: true, principals: principals() } : undefined),
        create: () => createAccess(issuer),
      },
    };
  },
});

function createAccess(issuer: Issuer): Access {
  const challenge = (description: string): string =>
    `Bearer resource_metadata="${METADATA_PATH}", error_description="${description}"`;
  let baseUrl = "";
  return {
    mode: "oauth",
    isGuarded: true,
    opened: (place) => (baseUrl = place.baseUrl),
    authenticator: {
      authenticate: (credentials) => {
        const token = /^bearer (\S+)$/i.exec(credentials.header("authorization") ?? "")?.[1] ?? "";
        const id = issuer.clientOf(token);
        if (id !== undefined) return { admitted: true, principal: { id, rights: EVERYTHING } };
        return { admitted: false, message: "No access token.", challenge: challenge("No access token.") };
      },
    },
    documents: [{ path: METADATA_PATH, read: () => ({ resource: baseUrl, authorization_servers: [baseUrl] }) }],
  };
}
