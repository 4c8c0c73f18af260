import { expect, onTestFinished, test } from "vitest";
import { ProviderClient } from "./provider-client.ts";

function clientOf(issuer: string): ProviderClient {
  const client = new ProviderClient({ issuer, timeoutMs: 1000, environment: {} });
  onTestFinished(() => client.close());
  return client;
}

test.each([
  ["https://id.example", "http://id.example/jwks"],
  ["https://id.example", "ftp://id.example/jwks"],
  ["https://id.example", "https://user:pass@id.example/jwks"],
  ["http://127.0.0.1:9", "file:///etc/passwd"],
  ["http://127.0.0.1:9", "no address"],
])("for the issuer %s, refuses the address %s without a request", async (issuer, address) => {
  await expect(clientOf(issuer).read(address)).rejects.toThrow("names an address that cannot be used");
});

test("requests an http address if the issuer also uses http", async () => {
  await expect(clientOf("http://127.0.0.1:9").read("http://127.0.0.1:9/jwks")).rejects.not.toThrow(
    "names an address that cannot be used",
  );
});
