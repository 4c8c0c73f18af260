import { expect, test } from "vitest";
import { Handshakes } from "./handshake.ts";

const SECRET = Buffer.from("secret-of-the-store");
const client = new Handshakes("hub-1", () => SECRET);
const server = new Handshakes("hub-2", () => SECRET);

test("both hubs get the same keys, which differ by direction", () => {
  const { hello, finish } = client.start("hub-2");
  const accepted = server.accept(hello)!;
  expect(accepted.from).toBe("hub-1");
  expect(finish(accepted.reply)).toEqual(accepted.keys);
  expect(accepted.keys.client).not.toEqual(accepted.keys.server);
});

test("a recorded hello opens a connection with other keys, which its sender does not know", () => {
  const { hello, finish } = client.start("hub-2");
  const [first, second] = [server.accept(hello)!, server.accept(hello)!];
  expect(second.keys.client).not.toEqual(first.keys.client);
  expect(second.keys.server).not.toEqual(first.keys.server);
  expect(finish(second.reply)).toEqual(second.keys);
});

test("refuses a hello for another hub", () => {
  expect(new Handshakes("hub-3", () => SECRET).accept(client.start("hub-2").hello)).toBeUndefined();
});

test("refuses a hello of a program with another secret", () => {
  expect(server.accept(new Handshakes("hub-1", () => Buffer.from("guess")).start("hub-2").hello)).toBeUndefined();
});

test("refuses a hello with one changed character, at every place", () => {
  const { hello } = client.start("hub-2");
  for (let at = 0; at < hello.length - 1; at += 1) {
    const changed = hello.slice(0, at) + (hello[at] === "A" ? "B" : "A") + hello.slice(at + 1);
    expect(server.accept(changed), `character ${at}`).toBeUndefined();
  }
});

test.each(["", ".", "x", "x.y", "é.é", `${"A".repeat(4000)}.${"A".repeat(43)}`])("refuses the hello %j", (hello) => {
  expect(server.accept(hello)).toBeUndefined();
});

test("refuses the reply of a program with another secret, and of another connection", () => {
  const started = client.start("hub-2");
  const other = server.accept(client.start("hub-2").hello)!;
  const guessing = new Handshakes("hub-2", () => Buffer.from("guess"));
  const { hello } = new Handshakes("hub-1", () => Buffer.from("guess")).start("hub-2");
  expect(started.finish(other.reply)).toBeUndefined();
  expect(started.finish(guessing.accept(hello)!.reply)).toBeUndefined();
  for (const reply of ["", ".", "x.y", started.hello]) expect(started.finish(reply)).toBeUndefined();
});

test("uses a secret that replaced the former one", () => {
  let secret: Uint8Array = Buffer.from("former");
  const changing = new Handshakes("hub-2", () => secret);
  expect(changing.accept(client.start("hub-2").hello)).toBeUndefined();
  secret = SECRET;
  expect(changing.accept(client.start("hub-2").hello)).toBeDefined();
});
