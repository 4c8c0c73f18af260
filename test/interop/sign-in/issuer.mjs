// The partner authorization server: `oidc-provider` as in its documentation, with its own pages for login and consent.
// Prints its address.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const server = createServer().listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    scopes: ["openid", "offline_access", "tools"],
    cookies: { keys: ["partners"] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: "tools",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: Number(process.env.TOKEN_SECONDS ?? 3600),
        }),
      },
    },
  });
  server.on("request", provider.callback());
  console.log(`url ${url}`);
});
