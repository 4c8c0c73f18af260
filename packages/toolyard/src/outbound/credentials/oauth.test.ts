import { expect, test } from "vitest";
import { completeOAuth, resolveOAuth } from "./oauth.ts";

const SLACK = new URL("https://mcp.slack.com/mcp");

test("without settings, a user signs in with the browser, and the hub tries every form of registration", () => {
  expect(completeOAuth(new URL("https://mcp.example.com/mcp"))).toEqual({
    grant: "authorization_code",
    registration: "auto",
    redirectHost: "127.0.0.1",
    dpop: false,
    subjectTokenType: "access_token",
  });
});

test("applies the built-in settings of a known server, which configured settings override", () => {
  expect(completeOAuth(SLACK)).toMatchObject({ redirectHost: "localhost", redirectPort: 3118 });
  const given = resolveOAuth({ type: "oauth", redirect_host: "127.0.0.1", redirect_port: 4000 });
  expect(completeOAuth(SLACK, given)).toMatchObject({ redirectHost: "127.0.0.1", redirectPort: 4000 });
});

test("does not apply built-in settings to a host whose name only ends like that of a known server", () => {
  expect(completeOAuth(new URL("https://mcp.slack.com.evil.example/mcp"))).not.toHaveProperty("redirectPort");
});

test.each([
  [{ grant: "client_credentials" }, "needs `client_id`"],
  [{ grant: "jwt_bearer" }, "needs `assertion`"],
  [{ grant: "enterprise", client_id: "c", assertion: "a" }, "needs `idp_token_url`"],
  [{ client_auth: "private_key_jwt", client_id: "c" }, "needs `private_key`"],
  [{ issuer: "http://auth.example" }, "`auth.issuer` must begin with https://"],
  [{ client_metadata_url: "https://hub.example/" }, "with a path"],
  [{ redirect_port: 0 }, "`auth.redirect_port` must be a whole number"],
] as const)("rejects %o", (more, words) => {
  expect(() => resolveOAuth({ type: "oauth", ...more })).toThrow(words);
});

test("ignores an `auth` with a type other than oauth", () => {
  expect(resolveOAuth({ type: "bearer", token: "t" })).toBeUndefined();
});
