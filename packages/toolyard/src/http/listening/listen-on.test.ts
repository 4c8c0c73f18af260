import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { listenOn } from "./listen-on.ts";
import { ownersOf } from "./port-owners.ts";

test("C34: names the programs that share a well-known port", () => {
  expect(ownersOf(50_051)).toBe(
    " It is the default of the datetime service (`toolyard services`) and of Weaviate's gRPC API.",
  );
  expect(ownersOf(8080)).toBe(
    " It is the default of the core server (`toolyard core server`) and of Weaviate's HTTP API.",
  );
  expect([50_052, 50_053, 50_054, 8808].map(ownersOf)).toEqual([
    " It is the default of the web-search service (`toolyard services`).",
    " It is the default of the weather service (`toolyard services`).",
    " It is the default of the geocoding service (`toolyard services`).",
    " It is the default of the hub (`toolyard serve`).",
  ]);
});

test("C34: reports an unknown port only as in use, without a program", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await expect(listenOn(createHttp(), "127.0.0.1", port)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use by another program. Stop that program`,
  );
  other.close();
});
