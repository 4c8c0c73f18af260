"""The partner resource server on the Python SDK, which requires tokens of an issuer: `guarded.py ISSUER`."""

import json
import socket
import sys
import urllib.request

import jwt
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

issuer = sys.argv[1]
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
url = f"http://127.0.0.1:{port}/mcp"
with urllib.request.urlopen(f"{issuer}/.well-known/openid-configuration") as answer:
    keys = jwt.PyJWKClient(json.load(answer)["jwks_uri"])


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            key = keys.get_signing_key_from_jwt(token)
            said = jwt.decode(token, key.key, algorithms=["RS256"], issuer=issuer, options={"verify_aud": False})
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=said["client_id"],
            scopes=said.get("scope", "").split(),
            expires_at=said["exp"],
            resource=said["aud"],
        )


settings = AuthSettings(
    issuer_url=issuer, resource_server_url=url, required_scopes=["tools"], validate_token_resource=True
)
server = MCPServer("guarded", token_verifier=Verifier(), auth=settings, log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    return text


print(f"url {url}", flush=True)
server.run("streamable-http", port=port)
