import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { ConnectionOptions, TLSSocket } from "node:tls";

export interface SecureRequest extends Pick<ConnectionOptions, "maxVersion"> {
  /** File of the trusted certificate authority. */
  readonly ca: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SecureAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly protocol: string | null;
  /** Fingerprint of the certificate. */
  readonly fingerprint: string;
}

/** Makes a request on a separate encrypted connection. Rejects if the certificate is not trusted. */
export async function askSecurely(url: string, wish: SecureRequest): Promise<SecureAnswer> {
  const { ca, body, headers = {}, method = body === undefined ? "GET" : "POST", maxVersion } = wish;
  const sent = request(url, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ca: readFileSync(ca),
    agent: false,
    ...(maxVersion && { maxVersion, minVersion: maxVersion }),
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const socket = response.socket as TLSSocket;
  const [protocol, { fingerprint256: fingerprint }] = [socket.getProtocol(), socket.getPeerX509Certificate()!];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
    protocol,
    fingerprint,
  };
}
