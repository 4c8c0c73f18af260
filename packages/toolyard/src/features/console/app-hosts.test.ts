import fc from "fast-check";
import { expect, test } from "vitest";
import { readDomains } from "./app-documents.ts";
import { permittedDomains, type AppPlace } from "./app-hosts.ts";

const LOCAL = "http://127.0.0.1:8808";
const LAN = "http://192.168.1.5:8808";
const PUBLIC = "https://hub.example.com";

function isPermitted(origin: string, hub: string, server?: string): boolean {
  const place: AppPlace = {
    hub: new URL(hub),
    ...(server !== undefined && { server: server === "hub" ? server : new URL(server) }),
  };
  const declared = readDomains({ ui: { csp: { connectDomains: [origin] } } });
  return permittedDomains(declared, place).connectDomains.length === 1;
}

test.each([
  "http://localhost:9200",
  "http://127.0.0.1:9200",
  "http://127.1:9200",
  "http://2130706433",
  "http://0x7f.0.0.1",
  "http://app.localhost",
  "ws://0.0.0.0:1",
  "http://10.0.0.1",
  "http://192.168.1.1",
  "http://169.254.169.254",
  "http://router",
  "http://printer.local",
  "https://*.localhost",
  "http://*.0.0.1",
  "http://*.168.1.1",
  "http://*.1",
  "http://*.internal",
  "http://*.local",
  "http://*.corp.internal",
])("refuses %s to the page of a remote server", (origin) => {
  for (const hub of [LOCAL, LAN, PUBLIC])
    for (const server of ["https://mcp.example.org/mcp", "http://10.0.0.2/mcp", undefined])
      expect(isPermitted(origin, hub, server), `${hub} ${server}`).toBe(false);
});

test.each(["https://api.example.org", "wss://a.example.org:8443", "https://*.example.org", "http://8.8.8.8"])(
  "permits the public host %s to every page",
  (origin) => {
    for (const hub of [LOCAL, LAN, PUBLIC])
      for (const server of ["https://mcp.example.org/mcp", "hub", undefined])
        expect(isPermitted(origin, hub, server)).toBe(true);
  },
);

test.each([
  ["http://192.168.1.7:3000", LAN, "http://192.168.1.7/mcp", true],
  ["http://192.168.1.7:3000", PUBLIC, "http://192.168.1.7/mcp", true],
  ["http://192.168.1.8:3000", LAN, "http://192.168.1.7/mcp", false],
  ["http://localhost:3000", LOCAL, "http://localhost:3000/mcp", true],
  ["http://localhost:3000", PUBLIC, "http://localhost:3000/mcp", false],
  ["http://localhost:3000", LOCAL, "hub", true],
  ["http://localhost:3000", LAN, "hub", false],
  ["http://192.168.1.7:3000", LAN, "hub", true],
  ["http://192.168.1.7:3000", LOCAL, "hub", true],
  ["http://192.168.1.7:3000", PUBLIC, "hub", false],
])("permits the host of %s to a page of the console %s and the server %s: %s", (origin, hub, server, expected) => {
  expect(isPermitted(origin, hub, server)).toBe(expected);
});

test.each([
  [LOCAL, "http://127.0.0.1:8808"],
  [LOCAL, "http://localhost:8808"],
  [LOCAL, "ws://localhost:8808"],
  [LAN, "http://192.168.1.5:8808"],
  [PUBLIC, "https://hub.example.com"],
  [PUBLIC, "http://hub.example.com"],
  [PUBLIC, "wss://HUB.example.com:443"],
  [PUBLIC, "https://*.example.com"],
  [PUBLIC, "https://*.com"],
])("a page of the console %s never gets the hub itself, as %s", (hub, origin) => {
  for (const server of ["hub", `${hub}/mcp`]) expect(isPermitted(origin, hub, server)).toBe(false);
});

test("permits another port of the hub's host to a program of the same machine", () => {
  expect(isPermitted("http://127.0.0.1:8809", LOCAL, "hub")).toBe(true);
  expect(isPermitted("https://hub.example.com:8443", PUBLIC, "hub")).toBe(true);
});

test("never permits an address of a local network to a public server, in any spelling of IPv4", () => {
  const part = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(part, part, fc.constantFrom("dec", "hex", "short"), (third, fourth, form) => {
      const number = ((192 << 24) | (168 << 16) | (third << 8) | fourth) >>> 0;
      const host =
        form === "dec"
          ? String(number)
          : form === "hex"
            ? `0x${number.toString(16)}`
            : `192.168.${third * 256 + fourth}`;
      expect(isPermitted(`http://${host}:80`, PUBLIC, "https://mcp.example.org/mcp")).toBe(false);
    }),
  );
});
