import { expect, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import { RemoteServerSchema, resolveRemoteServer, type RemoteServerConfig } from "./options.ts";

function urlOf(options: RemoteServerConfig): string {
  return resolveRemoteServer(options).url.href;
}

test("C15: combines host, port, path and scheme into an address", () => {
  expect(urlOf({ host: "weather-mcp", port: 50_053 })).toBe("http://weather-mcp:50053/mcp");
  expect(urlOf({ host: "::1", port: 1, path: "x/", scheme: "https" })).toBe("https://[::1]:1/x/");
  expect(urlOf({ host: "example.com" })).toBe("http://example.com/mcp");
});

test("keeps a URL unchanged with its query, but removes its fragment", () => {
  expect(urlOf({ url: "https://example.com/x/mcp?key=1#top" })).toBe("https://example.com/x/mcp?key=1");
});

const refused: [string, RemoteServerConfig, RegExp][] = [
  ["no place", {}, /`url` or `host`/],
  ["two places", { url: "http://a/", port: 1 }, /`url` and `port`/],
  ["a file", { url: "file:///etc/passwd" }, /http:\/\/ or https:\/\//],
  ["no address", { url: "weather" }, /`url` is not a valid address/],
  ["a password in the URL", { url: "http://me:s3cret@a/" }, /user name or a password/],
  ["a URL as host", { host: "http://a" }, /`host` must be a name/],
  ["a port out of range", { host: "a", port: 70_000 }, /`port`/],
  [
    "two credentials",
    { url: "http://a/", token: "s3cret", auth: { type: "bearer", token: "b" } },
    /`token` and `auth`/,
  ],
  [
    "a token and an Authorization header",
    { url: "http://a/", token: "s3cret", headers: { Authorization: "x" } },
    /`headers` and `token`/,
  ],
  ["an API key without a key", { url: "http://a/", auth: { type: "api_key" } }, /needs `key`/],
  ["a bearer with a key", { url: "http://a/", auth: { type: "bearer", token: "s3cret", key: "b" } }, /takes no `key`/],
  ["a line break in a token", { url: "http://a/", token: "s3cret\r\nx: y" }, /`token` holds characters/],
  ["a line break in a header", { url: "http://a/", headers: { "x-a": "s3cret\n" } }, /`headers.x-a` holds characters/],
  [
    "a header that the connection sets",
    { url: "http://a/", headers: { "Mcp-Session-Id": "1" } },
    /the connection itself sets/,
  ],
  ["a header name that is none", { url: "http://a/", headers: { "x y": "1" } }, /no header name/],
  ["two visibilities", { url: "http://a/", visibility: "native", tool_visibility: "ondemand" }, /the same setting/],
  ["too few connections", { url: "http://a/", max_connections: 1 }, /`max_connections`/],
];

test.each(refused)("rejects %s with an error that names the option and shows no secret", (_, options, message) => {
  expect(() => resolveRemoteServer(options)).toThrow(OptionError);
  expect(() => resolveRemoteServer(options)).toThrow(message);
  expect(() => resolveRemoteServer(options)).not.toThrow(/s3cret/);
});

test.each<[RemoteServerConfig, RegExp]>([
  [{ url: "http://a/", token: "s3cret" }, /per-caller.+shared credentials are configured.+Remove one of the two/],
  [{ url: "http://a/", headers: { Authorization: "s3cret" } }, /shared credentials are configured/],
  [{ url: "http://a/", auth: { type: "api_key", key: "s3cret" } }, /shared credentials are configured/],
  [
    { url: "http://a/", auth: { type: "oauth", grant: "client_credentials", client_id: "c", client_secret: "s3cret" } },
    /`grant = "client_credentials"` needs no user/,
  ],
])("rejects %o together with personal sign-ins", (options, words) => {
  expect(() => resolveRemoteServer({ ...options, credentials: "per-caller" })).toThrow(words);
  expect(() => resolveRemoteServer({ ...options, credentials: "per-caller" })).not.toThrow(/s3cret/);
  expect(resolveRemoteServer(options).credentials).toBe("shared");
});

test("combines credentials and headers into one set of headers", () => {
  expect(resolveRemoteServer({ url: "http://a/", token: "t", headers: { "X-Team": "blue" } }).headers).toEqual({
    authorization: "Bearer t",
    "x-team": "blue",
  });
  expect(resolveRemoteServer({ url: "http://a/", auth: { type: "bearer", token: "t" } }).headers).toEqual({
    authorization: "Bearer t",
  });
  expect(resolveRemoteServer({ url: "http://a/", auth: { type: "api_key", key: "k" } }).headers).toEqual({
    "x-api-key": "k",
  });
  expect(resolveRemoteServer({ url: "http://a/", token: "" }).headers).toEqual({});
});

test("T30: accepts tool_visibility as visibility", () => {
  expect(resolveRemoteServer({ url: "http://a/", tool_visibility: "ondemand" }).upstream.shape.visibility).toBe(
    "ondemand",
  );
  expect(resolveRemoteServer({ url: "http://a/" }).upstream.shape.visibility).toBe("native");
});

test("describes every option, and marks those that hold secrets", () => {
  const { properties } = RemoteServerSchema;
  expect(Object.entries(properties).filter(([, schema]) => !schema.description)).toEqual([]);
  expect(properties.token.writeOnly).toBe(true);
  expect(properties.headers.additionalProperties).toMatchObject({ writeOnly: true });
});
