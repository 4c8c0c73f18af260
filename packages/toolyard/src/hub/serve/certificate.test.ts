import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  CertificateFiles,
  replaceLink,
  type CertificateWishes,
  type CertificatePair,
} from "../../../../../test/support/certificates.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { KeyPair } from "../../http/tls/key-pair.ts";
import { ServedCertificate } from "./certificate.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let files: CertificateFiles;
let served: ServedCertificate | undefined;
let used: KeyPair[];
let said: string[];

beforeEach(() => {
  files = new CertificateFiles();
  [used, said] = [[], []];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
});
afterEach(async () => {
  await served?.close();
  served = undefined;
  vi.useRealTimers();
  files[Symbol.dispose]();
});

const hear = (message: string): void => void said.push(message);
const logger: Logger = { debug: hear, info: hear, warning: hear, error: hear, with: () => logger };

async function open(): Promise<ServedCertificate> {
  const use = async (pair: KeyPair): Promise<void> => void used.push(pair);
  served = await ServedCertificate.open({ certFile: files.cert, keyFile: files.key }, { logger, use });
  return served;
}

/** Writes a certificate and its key into a separate folder. */
function archive(name: string, made: CertificatePair): void {
  mkdirSync(join(files.folder, name));
  writeFileSync(join(files.folder, name, "cert.pem"), made.cert);
  writeFileSync(join(files.folder, name, "key.pem"), made.key);
}

/** Links the files as Kubernetes mounts them: `..data` is a link to a folder, and both files are links through it. */
function throughLink(made: CertificatePair): void {
  archive("first", made);
  for (const which of ["cert", "key"] as const) {
    rmSync(files[which]);
    files.link(which, join("..data", `${which}.pem`));
  }
}

describe("check every minute", () => {
  // The watched folder does not report a change of a link in the middle of the path.
  test("detects a new certificate and key if a link then leads to another folder", async () => {
    throughLink(files.authority.issue());
    replaceLink(join(files.folder, "..data"), "first");
    await open();
    const next = files.authority.issue();
    archive("second", next);
    replaceLink(join(files.folder, "..data"), "second");
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(used.map(({ cert }) => cert).at(-1)).toBe(next.cert);
    expect(used).toHaveLength(2);
  });

  test("keeps the certificate and key if no file has changed", async () => {
    await open();
    await vi.advanceTimersByTimeAsync(5 * MINUTE_MS);
    expect([used.length, said]).toEqual([1, []]);
  });

  test("reports once that the certificate has expired, and nothing after a new certificate", async () => {
    files.write(files.authority.issue({ until: new Date(Date.now() + DAY_MS) }));
    const certificate = await open();
    expect(certificate.report()).not.toHaveProperty("problem");
    vi.setSystemTime(Date.now() + 2 * DAY_MS);
    await vi.advanceTimersByTimeAsync(3 * MINUTE_MS);
    expect(said.filter((line) => /expired on .*Callers will refuse it/.test(line))).toHaveLength(1);
    expect(certificate.report().problem).toContain("expired on");
    files.write(files.authority.issue({ until: new Date(Date.now() + 9 * DAY_MS) }));
    await certificate.check();
    expect(certificate.report()).not.toHaveProperty("problem");
  });
});

describe("files that are being changed", () => {
  test.each([
    [
      "a new certificate beside the old key",
      (made: CertificatePair) => files.write({ cert: made.cert }),
      "is not that of the",
    ],
    ["half a certificate", (made: CertificatePair) => files.write({ cert: made.cert.slice(0, 300) }), "is damaged"],
    ["half a key", (made: CertificatePair) => files.write({ key: made.key.slice(0, 60) }), "is damaged"],
    ["an empty certificate", () => files.write({ cert: "" }), "holds no certificate"],
    ["no certificate", () => rmSync(files.cert), "cannot be read (ENOENT)"],
    ["a link that leads nowhere", () => files.link("key", "/nowhere/key.pem"), "cannot be read (ENOENT)"],
  ])(
    "%s: keeps the served certificate, and reports the fault once until a valid certificate was read",
    async (_, tear, words) => {
      const certificate = await open();
      const next = files.authority.issue();
      tear(next);
      await certificate.check();
      await certificate.check();
      expect(used).toHaveLength(1);
      expect(certificate.report().problem).toContain(words);
      expect(said.filter((line) => line.includes("the previous one is still served"))).toHaveLength(1);
      for (const file of [files.cert, files.key]) rmSync(file, { force: true });
      files.write(next);
      await certificate.check();
      expect(used.at(-1)).toEqual(next);
      expect(certificate.report()).not.toHaveProperty("problem");
    },
  );
});

test.each<[string, CertificateWishes, RegExp]>([
  ["expired", { until: new Date(Date.now() - DAY_MS / 2) }, /expired on \d{4}-/],
  [
    "is not valid yet",
    { from: new Date(Date.now() + DAY_MS), until: new Date(Date.now() + 2 * DAY_MS) },
    /is not valid before/,
  ],
])("serves a certificate that %s with a warning", async (_, wishes, words) => {
  files.write(files.authority.issue(wishes));
  const certificate = await open();
  expect(used).toHaveLength(1);
  expect(said).toEqual([expect.stringMatching(words)]);
  expect(certificate.report().problem).toMatch(words);
});
