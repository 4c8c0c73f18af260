import { expect, test } from "vitest";
import { isPublicAddress, lookupPublic, mayBePublic, NOT_PUBLIC_CODE } from "./addresses.ts";

test.each(["1.1.1.1", "172.32.0.1", "2606:4700::1111", "3ffe::1", "3fff:1000::1", "::ffff:8.8.8.8"])(
  "S10: accepts %s as public",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  "127.0.0.1",
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "::ffff:127.0.0.1",
  "::ffff:a9fe:a9fe",
  "::7f00:1",
  "::ffff:0:127.0.0.1",
  "::ffff:0:a9fe:a9fe",
  "3fff::1",
  "3fff:fff::1",
  "5f00::1",
  "5f00:ffff::1",
  "64:ff9b::7f00:1",
  "64:ff9b::808:808",
  "64:ff9b:1::1",
  "::ffff:0:0:127.0.0.1",
  "100::1",
  "100:0:0:1::1",
  "4000::1",
  "5f01::1",
  "8000::1",
  "fec0::1",
  "fe80::1%eth0",
  "2002:7f00:1::",
  "fd00::1",
  "fe80::1",
  "ff02::1",
  "localhost",
  "",
])("S10: does not accept %j as public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "http://localhost/",
  "http://metadata.google.internal/",
  "http://printer/",
  "http://[::1]/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://nas.local./",
])("S10: rejects %s, which cannot be a public host", (url) => {
  expect(mayBePublic(new URL(url))).toBe(false);
});

test.each(["https://example.com/", "https://1.1.1.1/", "https://local.example/"])(
  "accepts %s, which may be a public host",
  (url) => {
    expect(mayBePublic(new URL(url))).toBe(true);
  },
);

test("S10: returns no address for a name that resolves to this machine", async () => {
  const code = await new Promise((resolve) => {
    lookupPublic("localhost", { all: true }, (error) => resolve(error && "code" in error ? error.code : undefined));
  });
  expect(code).toBe(NOT_PUBLIC_CODE);
});
