/** 16-bit words of an IPv6 address. */
type Ipv6Words = readonly number[];

/** Form of IPv6 address that contains an IPv4 address: its first words, and the position of the IPv4 address. */
interface Embedding {
  /** `undefined` matches any word. */
  readonly start: readonly (number | undefined)[];
  readonly read: (words: Ipv6Words) => string;
}

const inWords =
  (high: number, low: number) =>
  (words: Ipv6Words): string =>
    dotted(words[high]!, words[low]!);
/** Reads the address after a prefix of 48, 56 or 64 bits, without the bits 64 to 71 (RFC 6052, section 2.2). */
const behind48 = (words: Ipv6Words): string => dotted(words[3]!, ((words[4]! & 255) << 8) | (words[5]! >> 8));
const behind56 = (words: Ipv6Words): string => dotted(((words[3]! & 255) << 8) | (words[4]! & 255), words[5]!);
const behind64 = (words: Ipv6Words): string =>
  dotted(((words[4]! & 255) << 8) | (words[5]! >> 8), ((words[5]! & 255) << 8) | (words[6]! >> 8));
const inverted = (words: Ipv6Words): string => dotted(words[6]! ^ 0xffff, words[7]! ^ 0xffff);

const NAT64_LOCAL = [0x64, 0xff9b, 1];
const LAST = inWords(6, 7);

const EMBEDDINGS: readonly Embedding[] = [
  // Mapped (`::ffff:a.b.c.d`), translated (`::ffff:0:a.b.c.d`) and compatible (`::a.b.c.d`) addresses.
  { start: [0, 0, 0, 0, 0, 0xffff], read: LAST },
  { start: [0, 0, 0, 0, 0xffff, 0], read: LAST },
  { start: [0, 0, 0, 0, 0, 0], read: LAST },
  // NAT64: the well-known prefix (RFC 6052), and the prefix for local use in each length (RFC 8215).
  { start: [0x64, 0xff9b, 0, 0, 0, 0], read: LAST },
  ...[LAST, behind48, behind56, behind64].map((read) => ({ start: NAT64_LOCAL, read })),
  // 6to4 (RFC 3056), Teredo with its server and its client (RFC 4380), ISATAP (RFC 5214).
  { start: [0x2002], read: inWords(1, 2) },
  { start: [0x2001, 0], read: inWords(2, 3) },
  { start: [0x2001, 0], read: inverted },
  { start: [undefined, undefined, undefined, undefined, 0, 0x5efe], read: LAST },
  { start: [undefined, undefined, undefined, undefined, 0x200, 0x5efe], read: LAST },
];

/**
 * Returns the IPv4 addresses that an IPv6 address reaches through translators and tunnels. `host` is an address in
 * brackets as the URL standard writes it; for any other host the list is empty.
 */
export function embeddedIpv4(host: string): readonly string[] {
  const words = wordsOf(host);
  if (!words) return [];
  const found = EMBEDDINGS.filter(({ start }) => start.every((word, at) => word === undefined || word === words[at]));
  return [...new Set(found.map(({ read }) => read(words)))];
}

const ADDRESS = /^\[([\da-f]{0,4}(?::[\da-f]{0,4}){2,7})\]$/;

function wordsOf(host: string): Ipv6Words | undefined {
  const text = ADDRESS.exec(host)?.[1];
  if (text === undefined) return undefined;
  const [before = "", after] = text.split("::");
  const parse = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [first, last] = [parse(before), parse(after ?? "")];
  const zeros = after === undefined ? 0 : 8 - first.length - last.length;
  const words = [...first, ...Array.from({ length: Math.max(0, zeros) }, () => 0), ...last];
  return words.length === 8 && !words.some(Number.isNaN) ? words : undefined;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
