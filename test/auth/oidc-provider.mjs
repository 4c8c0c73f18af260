// A real identity provider in its own process: `oidc-provider` with two machine clients. One gets JWTs, the other
// opaque tokens. Prints its address.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const client = (id) => ({
  client_id: id,
  client_secret: `${id}-secret`,
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
});
const server = createServer().listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    clients: [client("robot"), client("opaque"), client("hub")],
    scopes: ["tools"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: (_ctx, caller) => caller.clientId === "hub" },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource, { clientId }) => ({
          scope: "tools",
          audience: resource,
          accessTokenFormat: clientId === "robot" ? "jwt" : "opaque",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  server.on("request", provider.callback());
  console.log(`url ${url}`);
});
