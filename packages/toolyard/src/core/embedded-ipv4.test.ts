import { expect, test } from "vitest";
import { embeddedIpv4 } from "./embedded-ipv4.ts";

test.each([
  ["[::ffff:c0a8:1]", ["192.168.0.1"]],
  ["[::ffff:0:c0a8:1]", ["192.168.0.1"]],
  ["[::c0a8:1]", ["192.168.0.1"]],
  ["[64:ff9b::c0a8:1]", ["192.168.0.1"]],
  ["[2002:c0a8:1::]", ["192.168.0.1"]],
  ["[2001:0:c0a8:1::3f57:fffe]", ["192.168.0.1", "192.168.0.1"]],
  ["[fe80::5efe:c0a8:1]", ["192.168.0.1"]],
  ["[2001:db8::200:5efe:c0a8:1]", ["192.168.0.1"]],
  ["[64:ff9b:1::c0a8:1]", ["192.168.0.1"]],
  ["[64:ff9b:1:c0a8:0:100::]", ["192.168.0.1"]],
  ["[64:ff9b:1:c0:a8:1::]", ["192.168.0.1"]],
  ["[64:ff9b:1:0:c0:a800:100:0]", ["192.168.0.1"]],
])("finds the IPv4 addresses %j in %s", (host, addresses) => {
  expect(embeddedIpv4(host)).toEqual(expect.arrayContaining(addresses));
});

test.each([
  "[2001:db8::c0a8:1]",
  "[2003:c0a8:1::]",
  "[64:ff9b:2::c0a8:1]",
  "[fe80::1]",
  "192.168.0.1",
  "a.example",
  "",
])("finds no IPv4 address in %s", (host) => expect(embeddedIpv4(host)).toEqual([]));

test.each(["[", "[:::]", "[1:2:3]", "[1:2:3:4:5:6:7:8:9]", "[g::]", "[::1.2.3.4]"])(
  "finds no IPv4 address in %s, which is not an IPv6 address",
  (host) => expect(embeddedIpv4(host)).toEqual([]),
);
