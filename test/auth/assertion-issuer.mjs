// An identity provider in its own process that issues identity assertions (ID-JAG). `POST /sign` signs the claims of
// the body and returns the JWT, so that a test can request wrong assertions too. Prints its address.
import { createServer } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

const [own, foreign] = await Promise.all([1, 2].map(() => generateKeyPair("ES256", { extractable: true })));
const keys = [{ ...(await exportJWK(own.publicKey)), kid: "k1", alg: "ES256", use: "sig" }];
let url = "";
let hasKeys = true;

async function sign({ header = {}, claims, key }) {
  const protectedHeader = { alg: "ES256", kid: "k1", typ: "oauth-id-jag+jwt", ...header };
  if (header.typ === null) delete protectedHeader.typ;
  const secret = key === "secret" ? new TextEncoder().encode(JSON.stringify(keys[0])) : undefined;
  const jwt = new SignJWT({ iss: url, ...claims }).setProtectedHeader(protectedHeader);
  return jwt.sign(secret ?? (key === "foreign" ? foreign : own).privateKey);
}

async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.url === "/sign") return response.end(await sign(JSON.parse(Buffer.concat(chunks).toString())));
  if (request.url === "/fail" || request.url === "/recover") {
    hasKeys = request.url === "/recover";
    return response.end();
  }
  if (!hasKeys) return response.writeHead(200, { "content-type": "text/html" }).end("<html>Maintenance</html>");
  const documents = {
    "/.well-known/oauth-authorization-server": { issuer: url, jwks_uri: `${url}/jwks` },
    "/jwks": { keys },
  };
  response.writeHead(documents[request.url] ? 200 : 404).end(JSON.stringify(documents[request.url] ?? {}));
}

const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1", () => {
  url = `http://127.0.0.1:${server.address().port}`;
  console.log(`url ${url}`);
});
