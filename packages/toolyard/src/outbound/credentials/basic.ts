/** Returns a client's id and secret for HTTP Basic. Both are form-encoded first (RFC 6749, 2.3.1). */
export function basic(clientId: string, clientSecret: string): string {
  return Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");
}

export function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
