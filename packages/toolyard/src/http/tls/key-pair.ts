import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import { codeOf, messageOf, OptionError } from "../../core/errors.ts";
import { isLoopbackHost } from "../../core/uris/loopback.ts";
import type { HttpOptions, TlsFiles } from "../options.ts";
import { isEverywhere } from "../listening/reach.ts";

/** Certificate with its chain, and its private key. Both are in PEM format. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Minimum version of TLS; older versions are insecure. */
export const MIN_VERSION = "TLSv1.2";

const BEGIN_CERTIFICATE = "-----BEGIN CERTIFICATE-----";
const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
const PRIVATE_KEY = /-----BEGIN (?:\w+ )*PRIVATE KEY-----/;

/** Reads certificate and key. Throws an `OptionError` that describes the problem of either, or of both together. */
export function readKeyPair({ certFile, keyFile }: TlsFiles): KeyPair {
  const pair = { cert: readOption("cert", certFile), key: readOption("key", keyFile) };
  const certificate = parseCertificate(pair.cert, certFile);
  const key = parseKey(pair.key, keyFile);
  if (!certificate.checkPrivateKey(key))
    throw new OptionError(
      `\`server.tls\`: the key in ${keyFile} is not that of the certificate in ${certFile}. ` +
        "Name the two files that were made together; the server's own certificate comes first in a chain.",
    );
  try {
    createSecureContext({ ...pair, minVersion: MIN_VERSION });
  } catch (error) {
    throw new OptionError(
      `\`server.tls\`: ${certFile} and ${keyFile} cannot be served (${messageOf(error)}). ` +
        "Make a certificate with a key of RSA 2048 or ECDSA P-256, signed with SHA-256.",
      { cause: error },
    );
  }
  return pair;
}

/** Maximum size of a file, far above that of any certificate chain. */
const MAX_PEM_BYTES = 1024 * 1024;

function readOption(name: "cert" | "key", file: string): string {
  try {
    return readBounded(file);
  } catch (error) {
    const code = codeOf(error);
    const advice =
      code === "EACCES" ? "Let the hub's user read it." : "Correct the path; it is relative to the configuration file.";
    throw new OptionError(`\`server.tls.${name}\`: ${file} cannot be read (${code ?? messageOf(error)}). ${advice}`, {
      cause: error,
    });
  }
}

/**
 * Reads a file of limited size. A pipe is opened without waiting and refused, because reading it would block the
 * process.
 */
function readBounded(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
    if (!stats.isFile()) throw new Error("no regular file");
    if (stats.size > MAX_PEM_BYTES) throw new Error(`${stats.size} bytes, at most ${MAX_PEM_BYTES} are read`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function parseCertificate(text: string, file: string): X509Certificate {
  if (!text.includes(BEGIN_CERTIFICATE)) {
    const what = PRIVATE_KEY.test(text) ? "holds a private key" : "holds no certificate in PEM form";
    throw new OptionError(
      `\`server.tls.cert\`: ${file} ${what}. It must have a line \`${BEGIN_CERTIFICATE}\`, ` +
        "first for the server's certificate, then for the others of its chain.",
    );
  }
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new OptionError(
      `\`server.tls.cert\`: the certificate in ${file} is damaged (${messageOf(error)}). Copy it again.`,
      { cause: error },
    );
  }
}

function parseKey(text: string, file: string): KeyObject {
  if (ENCRYPTED_KEY.test(text))
    throw new OptionError(
      `\`server.tls.key\`: the key in ${file} requires a passphrase, which cannot be entered here. ` +
        `Write one without: openssl pkey -in ${file} -out plain-key.pem, readable by the hub's user only.`,
    );
  if (!PRIVATE_KEY.test(text))
    throw new OptionError(
      `\`server.tls.key\`: ${file} holds no private key in PEM form. ` +
        "It must have a line such as `-----BEGIN PRIVATE KEY-----`.",
    );
  try {
    return createPrivateKey(text);
  } catch (error) {
    // The message contains OpenSSL's text, which contains no part of the key.
    throw new OptionError(`\`server.tls.key\`: the key in ${file} is damaged (${messageOf(error)}). Copy it again.`, {
      cause: error,
    });
  }
}

/**
 * Returns the name by which callers that verify the certificate can reach a listener: its address, otherwise a name
 * that the listener accepts in `Host`. Returns `undefined` if the certificate covers none of these.
 */
export function nameToReach(
  { cert }: Pick<KeyPair, "cert">,
  { host, allowedHosts }: Pick<HttpOptions, "host" | "allowedHosts">,
): string | undefined {
  const certificate = new X509Certificate(cert);
  const isLocal = isLoopbackHost(host);
  const own = isEverywhere(host) ? ["127.0.0.1", "localhost"] : isLocal ? [host, "localhost"] : [host];
  // On loopback, only configured names are accepted in `Host`.
  const names = isLocal ? [] : namesOf(certificate);
  return [...own, ...allowedHosts, ...names].find((name) => {
    const bare = name.replace(/^\[|\]$/g, "");
    return (isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare)) !== undefined;
  });
}

/** Returns the host names of the certificate without wildcards. */
function namesOf({ subjectAltName = "" }: X509Certificate): readonly string[] {
  return Array.from(subjectAltName.matchAll(/DNS:([^,\s"*]+)/g), ([, name]) => name!);
}

/** Returns the start of the certificate's validity. */
export function validFrom({ cert }: Pick<KeyPair, "cert">): Date {
  return new Date(new X509Certificate(cert).validFrom);
}

/** Returns the end of the certificate's validity. */
export function validUntil({ cert }: Pick<KeyPair, "cert">): Date {
  return new Date(new X509Certificate(cert).validTo);
}
