// A real identity provider for sign-ins of users: `oidc-provider` in its own process. The browser chooses its account
// by the cookie `account`. The first argument is the hub's redirect address. Prints its own address.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const ACCOUNTS = {
  ann: { email: "ann@corp.example", email_verified: true, groups: ["dev"] },
  mallory: { email: "Ann", email_verified: false, preferred_username: "Ann", groups: ["guests"] },
  eve: { email: "eve@corp.example", email_verified: false, groups: [] },
  twin: { email: "ann@corp.example", email_verified: true, groups: ["dev"] },
};

const account = (sub) => sub in ACCOUNTS && { accountId: sub, claims: () => ({ sub, ...ACCOUNTS[sub] }) };
const server = createServer().listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: "hub",
        client_secret: "secret/of+the hub",
        redirect_uris: [process.argv[2]],
        grant_types: ["authorization_code"],
      },
    ],
    pkce: { required: () => true },
    scopes: ["openid", "profile", "email"],
    claims: { openid: ["sub", "groups"], profile: ["preferred_username"], email: ["email", "email_verified"] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, sub) => account(sub),
    interactions: { url: (_ctx, { uid }) => `/choose/${uid}` },
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
  });
  const protocol = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url.startsWith("/choose/")) return protocol(request, response);
    const accountId = /(?:^|; )account=([^;]*)/.exec(request.headers.cookie ?? "")?.[1];
    const result = accountId ? { login: { accountId } } : { error: "access_denied" };
    return provider.interactionFinished(request, response, result);
  });
  console.log(`url ${url}`);
});
