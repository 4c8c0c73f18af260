import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A newly issued certificate with its key, as PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateWishes {
  /** Host names and addresses of the certificate. */
  readonly hosts?: readonly string[];
  /** Start of its validity. @default a day ago */
  readonly from?: Date;
  /** End of its validity. @default in a day */
  readonly until?: Date;
}

/** A certificate authority for tests, like a company's own: a client with `cert` trusts everything that it signs. */
export class Authority {
  readonly cert: string;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #name: string;

  constructor(name = "Test Authority") {
    this.#name = name;
    this.cert = pem("CERTIFICATE", this.#signed({ subject: name, key: this.#keys.publicKey, isAuthority: true }));
  }

  issue({ hosts = ["localhost", "127.0.0.1"], ...times }: CertificateWishes = {}): CertificatePair {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const cert = this.#signed({ subject: hosts[0]!, key: publicKey, hosts, ...times });
    return { cert: pem("CERTIFICATE", cert), key: privateKey.export({ type: "pkcs8", format: "pem" }) as string };
  }

  #signed({ subject, key, hosts = [], from, until, isAuthority = false }: CertificateRequest): Buffer {
    const [begins, ends] = [from ?? new Date(Date.now() - DAY_MS), until ?? new Date(Date.now() + DAY_MS)];
    const ownId = createHash("sha1")
      .update(this.#keys.publicKey.export({ type: "spki", format: "der" }))
      .digest();
    const extensions = [
      extension("551d13", sequence(isAuthority ? der(0x01, Buffer.from([0xff])) : Buffer.alloc(0)), true),
      ...(isAuthority ? [extension("551d0e", der(0x04, ownId))] : []),
      ...(isAuthority ? [] : [extension("551d23", sequence(der(0x80, ownId)))]),
      ...(hosts.length > 0 ? [extension("551d11", sequence(...hosts.map(altName)))] : []),
    ];
    const body = sequence(
      der(0xa0, der(0x02, Buffer.from([2]))),
      der(0x02, Buffer.concat([Buffer.from([1]), createHash("sha1").update(subject).digest().subarray(0, 8)])),
      ECDSA_SHA256,
      nameOf(this.#name),
      sequence(time(begins), time(ends)),
      nameOf(subject),
      key.export({ type: "spki", format: "der" }),
      der(0xa3, sequence(...extensions)),
    );
    const signature = sign("sha256", body, this.#keys.privateKey);
    return sequence(body, ECDSA_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  }
}

interface CertificateRequest extends CertificateWishes {
  readonly subject: string;
  readonly key: KeyObject;
  readonly isAuthority?: boolean;
}

/** Files of a server: its certificate and key, and the authority's certificate for its callers. */
export class CertificateFiles implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "toolyard-tls-"));
  readonly authority = new Authority();
  readonly cert = join(this.folder, "cert.pem");
  readonly key = join(this.folder, "key.pem");
  readonly ca = join(this.folder, "ca.pem");

  constructor(wishes: CertificateWishes = {}) {
    writeFileSync(this.ca, this.authority.cert);
    this.write(this.authority.issue(wishes));
  }

  write({ cert, key }: Partial<CertificatePair>): void {
    if (key !== undefined) writeFileSync(this.key, key, { mode: 0o600 });
    if (cert !== undefined) writeFileSync(this.cert, cert);
  }

  read(which: "cert" | "key"): string {
    return readFileSync(this[which], "utf8");
  }

  /** Replaces the file by a link, like programs that renew certificates. */
  link(which: "cert" | "key", target: string): void {
    replaceLink(this[which], target);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Replaces the link atomically: a reader never finds it missing or incomplete. */
export function replaceLink(path: string, target: string): void {
  const next = `${path}.next`;
  symlinkSync(target, next);
  renameSync(next, path);
}

const DAY_MS = 24 * 60 * 60 * 1000;

function der(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, Math.floor(length / 0x100), length % 0x100];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

/** ecdsa-with-SHA256 */
const ECDSA_SHA256 = sequence(objectId("2a8648ce3d040302"));

/** Encodes a distinguished name with one common name. */
function nameOf(text: string): Buffer {
  return sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from(text)))));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, "")}`));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(objectId(id), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
}

function altName(host: string): Buffer {
  if (/^[\d.]+$/.test(host)) return der(0x87, Buffer.from(host.split(".").map(Number)));
  return der(0x82, Buffer.from(host));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
