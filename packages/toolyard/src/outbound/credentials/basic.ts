/** A client's id and secret as HTTP Basic has them. RFC 6749, 2.3.1: both are form-encoded first. */
export function basic(clientId: string, clientSecret: string): string {
  return Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");
}

export function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
