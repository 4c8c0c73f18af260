import { afterEach, expect, test } from "vitest";
import { startServer } from "../../../../test/fixtures/http-servers.ts";
import { SignInNetwork } from "./network.ts";

const open: SignInNetwork[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((network) => network.close()));
});

function networkOf(server: string, trusted: readonly string[] = []): SignInNetwork {
  const network = new SignInNetwork({ label: "far", url: new URL(server), trusted, environment: {} });
  open.push(network);
  return network;
}

test.each([
  ["https://mcp.example.com/mcp", "https://auth.example.com/token"],
  ["http://127.0.0.1:3000/mcp", "http://127.0.0.1:4000/token"],
  ["http://hub.lan:3000/mcp", "http://hub.lan:3000/token"],
])("a server at %s may have a token endpoint at %s", (server, address) => {
  expect(networkOf(server).checked(address).href).toBe(address);
});

test.each([
  ["https://mcp.example.com/mcp", "http://auth.example.com/token"],
  ["https://mcp.example.com/mcp", "http://127.0.0.1:4000/token"],
  ["http://hub.lan:3000/mcp", "http://other.lan/token"],
  ["https://mcp.example.com/mcp", "javascript:alert(1)"],
  ["https://mcp.example.com/mcp", "file:///etc/passwd"],
  ["https://mcp.example.com/mcp", "https://user:password@auth.example.com/token"],
  ["https://mcp.example.com/mcp", "no address"],
])("a server at %s may not have a token endpoint at %s", (server, address) => {
  expect(() => networkOf(server).checked(address)).toThrow(/is not used/);
});

test.each(["https://127.0.0.1:1/", "https://169.254.169.254/latest/", "https://[::1]:1/", "https://router.lan/"])(
  "sends no request to %s for a public server",
  async (address) => {
    const asked = networkOf("https://mcp.example.com/mcp").ask(address);
    await expect(asked).rejects.toMatchObject({ failure: { kind: "denied" } });
  },
);

test("sends requests to a configured address, even a private one", async () => {
  const asked = networkOf("https://mcp.example.com/mcp", ["https://127.0.0.1:1/"]).ask("https://127.0.0.1:1/");
  // No server listens at this address, so the request is sent and fails.
  await expect(asked).rejects.toMatchObject({ failure: { kind: "unavailable" } });
});

test("returns a redirect as a response without following it", async () => {
  await using other = await startServer((_, response) => void response.end("other"));
  await using server = await startServer((_, response) => void response.writeHead(307, { location: other.url }).end());
  const answer = await networkOf(server.url).ask(server.url, { method: "POST", body: "secret" });
  expect(answer.status).toBe(307);
  expect(other.seen).toEqual([]);
});

test("stops reading a response without an end", async () => {
  await using server = await startServer((_, response) => void response.end(Buffer.alloc(1_000_000, "x")));
  const asked = networkOf(server.url).ask(server.url);
  await expect(asked).rejects.toMatchObject({ failure: { kind: "too_large" } });
});
