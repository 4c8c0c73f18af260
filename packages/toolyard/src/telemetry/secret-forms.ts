/**
 * Returns the forms in which a secret stays readable in a text: unchanged, inside JSON, inside a URL, inside a form.
 */
export function plainForms(secret: string): ReadonlySet<string> {
  return new Set([secret, JSON.stringify(secret).slice(1, -1), ...urlForms(secret)]);
}

/** Returns the encoded forms of a secret: hexadecimal, and base64 of a text that contains the secret at any offset. */
export function encodedForms(secret: string): ReadonlySet<string> {
  const bytes = Buffer.from(secret);
  return new Set([...hexForms(bytes), ...base64Forms(bytes)]);
}

/** Returns the secret parts of a header value: of `Bearer x` also `x`, of basic authentication also the password. */
export function secretParts(secret: string): readonly string[] {
  const credentials = /^(?:bearer|basic|token|apikey|digest)\s+(\S+)$/i.exec(secret)?.[1];
  if (credentials === undefined) return [secret];
  const decoded = /^basic/i.test(secret) ? Buffer.from(credentials, "base64").toString("utf8") : "";
  const password = decoded.slice(decoded.indexOf(":") + 1);
  return [secret, credentials, ...(decoded.includes(":") ? [password] : [])];
}

function urlForms(secret: string): string[] {
  try {
    const encoded = encodeURIComponent(secret);
    return [
      encoded,
      encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
      new URLSearchParams({ k: secret }).toString().slice(2),
    ];
  } catch {
    // The secret contains a lone surrogate, which has no form in a URL.
    return [];
  }
}

function hexForms(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** Minimum length of a base64 form; shorter forms occur by chance. */
const MIN_BASE64_CHARS = 8;

// Base64 encodes six bits per character: its characters differ if the secret starts one or two bytes later. The first
// and the last character also contain bits of the neighbouring bytes, so both are omitted.
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6)];
    const form = padded.toString("base64").slice(first, end);
    return form.length < MIN_BASE64_CHARS ? [] : [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
