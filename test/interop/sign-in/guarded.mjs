// The partner resource server on the TypeScript SDK v2, behind its `requireBearerAuth`: `guarded.mjs ISSUER`.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
} from "@modelcontextprotocol/server";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { z } from "zod";

const issuer = process.argv[2];
const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));

const server = createServer().listen(0, "127.0.0.1", () => {
  const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
  const verifyAccessToken = async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer });
      const { aud, client_id: clientId, exp: expiresAt, scope = "" } = payload;
      return { token, clientId, expiresAt, scopes: scope.split(" "), resource: new URL(String(aud)) };
    } catch (error) {
      throw new OAuthError(OAuthErrorCode.InvalidToken, "no token of this issuer", { cause: error });
    }
  };
  const gate = requireBearerAuth({
    verifier: { verifyAccessToken },
    requiredScopes: ["tools"],
    expectedResource: url,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url),
  });
  const documents = {
    oauthMetadata: metadata,
    resourceServerUrl: url,
    scopesSupported: ["tools"],
    dangerouslyAllowInsecureIssuerUrl: true,
  };
  const handler = createMcpHandler(build, { legacy: "stateless" });
  const fetchOf = async (request) => {
    const document = oauthMetadataResponse(request, documents);
    if (document) return document;
    const authInfo = await gate(request);
    return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
  };
  server.on("request", toNodeHandler({ fetch: fetchOf }));
  console.log(`url ${url}`);
});

function build() {
  const mcp = new McpServer({ name: "guarded", version: "1.0.0" });
  mcp.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  return mcp;
}
