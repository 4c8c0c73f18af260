import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Authority, CertificateFiles } from "../../../../../test/support/certificates.ts";
import { OptionError } from "../../core/errors.ts";
import { nameToReach, readKeyPair } from "./key-pair.ts";

let files: CertificateFiles;

beforeEach(() => void (files = new CertificateFiles()));
afterEach(() => files[Symbol.dispose]());

const read = () => readKeyPair({ certFile: files.cert, keyFile: files.key });
const encrypted = (type: "pkcs8" | "pkcs1") =>
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
    type,
    format: "pem",
    cipher: "aes-256-cbc",
    passphrase: "words",
  }) as string;

test("refuses a pipe immediately instead of waiting", ({ skip }) => {
  skip(process.platform === "win32", "not on this platform");
  rmSync(files.cert);
  execFileSync("mkfifo", [files.cert]);
  expect(read).toThrow("`server.tls.cert`");
  expect(read).toThrow("no regular file");
});

test("reads a certificate and its key", () => {
  expect(read()).toEqual({ cert: expect.stringContaining("BEGIN CERT"), key: expect.stringContaining("PRIVATE KEY") });
});

test.each([
  ["the key of another certificate", () => files.write({ key: files.authority.issue().key }), "is not that of the"],
  ["a missing certificate", () => rmSync(files.cert), "`server.tls.cert`"],
  ["a missing key", () => rmSync(files.key), "cannot be read (ENOENT)"],
  [
    "a folder for a key",
    () => {
      rmSync(files.key);
      mkdirSync(files.key);
    },
    "cannot be read (EISDIR)",
  ],
  ["a device for a key", () => files.link("key", "/dev/zero"), "no regular file"],
  ["a file that is no chain", () => files.write({ cert: "x".repeat(1_100_000) }), "at most 1048576 are read"],
  [
    "a chain that is cut behind the server's own",
    () => files.write({ cert: files.read("cert") + files.authority.cert.slice(0, 200) }),
    "cannot be served",
  ],
  ["no certificate", () => files.write({ cert: "words" }), "holds no certificate in PEM form"],
  ["a key for a certificate", () => files.write({ cert: new Authority().issue().key }), "holds a private key"],
  ["a cut certificate", () => files.write({ cert: `${files.authority.cert.slice(0, 200)}\n` }), "is damaged"],
  ["a certificate for a key", () => files.write({ key: files.authority.cert }), "holds no private key in PEM form"],
  [
    "a cut key",
    () => files.write({ key: "-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n" }),
    "is damaged",
  ],
  ["a key with a passphrase", () => files.write({ key: encrypted("pkcs8") }), "requires a passphrase"],
  ["an old kind of such a key", () => files.write({ key: encrypted("pkcs1") }), "openssl pkey -in"],
])("refuses %s with a message", (_, spoil, words) => {
  spoil();
  expect(read).toThrow(OptionError);
  expect(read).toThrow(words);
});

test.each([
  ["127.0.0.1", [], ["127.0.0.1"], "127.0.0.1"],
  ["127.0.0.1", [], ["localhost"], "localhost"],
  ["127.0.0.1", [], ["hub.example"], undefined],
  ["127.0.0.1", ["hub.example"], ["hub.example"], "hub.example"],
  ["0.0.0.0", [], ["*.tools.example", "hub.example"], "hub.example"],
  ["0.0.0.0", [], ["*.tools.example"], undefined],
  ["0.0.0.0", ["a.tools.example"], ["*.tools.example"], "a.tools.example"],
])(
  "on host %s with allowed hosts %j, a certificate for %j gives the hub the name %s",
  (host, allowedHosts, hosts, name) => {
    expect(nameToReach(files.authority.issue({ hosts }), { host, allowedHosts })).toBe(name);
  },
);
