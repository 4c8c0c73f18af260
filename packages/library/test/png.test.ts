import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { decodePng } from "../src/documents/ocr/png.ts";

const [WIDTH, HEIGHT] = [5, 6];
/** Pixels from black to white, with values that every colour type can represent. */
const isWhite = (x: number, y: number): boolean => (x + y * 2) % 3 === 0;

interface Kind {
  readonly kind: number;
  readonly depth: number;
  readonly samples: number;
}

function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length);
  head.write(name, 4, "latin1");
  // The reader does not check the CRC at the end.
  return Buffer.concat([head, content, Buffer.alloc(4)]);
}

function samplesOf({ kind, depth, samples }: Kind, x: number, y: number): number[] {
  const most = 2 ** depth - 1;
  const value = isWhite(x, y) ? most : 0;
  if (kind === 3) return [isWhite(x, y) ? 1 : 0];
  return Array.from({ length: samples }, (_, at) => ([2, 4].includes(samples) && at === samples - 1 ? most : value));
}

/** Packs the samples of a row into bits. */
function rowOf(one: Kind, y: number): Buffer {
  let bits = "";
  for (let x = 0; x < WIDTH; x += 1)
    for (const value of samplesOf(one, x, y)) bits += value.toString(2).padStart(one.depth, "0");
  return Buffer.from(bits.match(/.{1,8}/g)!.map((byte) => parseInt(byte.padEnd(8, "0"), 2)));
}

function guess(filter: number, [left, up, corner]: readonly [number, number, number]): number {
  const from = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(from - value)) as [number, number, number];
  const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
  return [0, left, up, (left + up) >> 1, paeth][filter]!;
}

/** Each row uses another filter. */
function png(one: Kind, more: readonly Buffer[] = []): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH);
  head.writeUInt32BE(HEIGHT, 4);
  head.set([one.depth, one.kind], 8);
  const step = Math.max(1, (one.depth * one.samples) >> 3);
  const rows = Array.from({ length: HEIGHT }, (_, y) => {
    const [row, above] = [rowOf(one, y), y > 0 ? rowOf(one, y - 1) : undefined];
    const filter = y % 5;
    const bytes = row.map((byte, at) => {
      const near = [row[at - step] ?? 0, above?.[at] ?? 0, above?.[at - step] ?? 0] as const;
      return (byte - guess(filter, near)) & 0xff;
    });
    return Buffer.concat([Buffer.from([filter]), bytes]);
  });
  const parts = [
    chunk("IHDR", head),
    ...more,
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"), ...parts]);
}

const KINDS = [
  ...[1, 2, 4, 8, 16].map((depth) => ({ what: "shades of grey", kind: 0, depth, samples: 1 })),
  ...[8, 16].map((depth) => ({ what: "colours", kind: 2, depth, samples: 3 })),
  ...[1, 2, 4, 8].map((depth) => ({ what: "a palette", kind: 3, depth, samples: 1 })),
  ...[8, 16].map((depth) => ({ what: "grey with opacity", kind: 4, depth, samples: 2 })),
  ...[8, 16].map((depth) => ({ what: "colours with opacity", kind: 6, depth, samples: 4 })),
];

test.each(KINDS)("reads a PNG of $what, $depth bits each, pixel by pixel", (one) => {
  const palette = one.kind === 3 ? [chunk("PLTE", Buffer.from([0, 0, 0, 255, 255, 255]))] : [];
  const { width, height, data } = decodePng(png(one, palette));
  expect([width, height]).toEqual([WIDTH, HEIGHT]);
  const seen = Array.from({ length: WIDTH * HEIGHT }, (_, at) => Array.from(data.slice(at * 4, at * 4 + 4)));
  expect(seen).toEqual(
    seen.map((_, at) => (isWhite(at % WIDTH, Math.floor(at / WIDTH)) ? [255, 255, 255, 255] : [0, 0, 0, 255])),
  );
});

test("transparent pixels are white, also with a palette", () => {
  const palette = [chunk("PLTE", Buffer.from([0, 0, 0, 9, 9, 9])), chunk("tRNS", Buffer.from([255, 0]))];
  const { data } = decodePng(png({ kind: 3, depth: 1, samples: 1 }, palette));
  expect(Array.from(data.slice(0, 8))).toEqual([255, 255, 255, 255, 0, 0, 0, 255]);
});

test.each([
  ["grey of 1 bit", { kind: 0, depth: 1, samples: 1 }, [0]],
  ["grey of 8 bits", { kind: 0, depth: 8, samples: 1 }, [0]],
  ["grey of 16 bits", { kind: 0, depth: 16, samples: 1 }, [0]],
  ["colours of 8 bits", { kind: 2, depth: 8, samples: 3 }, [0, 0, 0]],
  ["colours of 16 bits", { kind: 2, depth: 16, samples: 3 }, [0, 0, 0]],
])("the transparent colour of %s is white", (_what, one, color) => {
  const clear = Buffer.alloc(color.length * 2);
  color.forEach((sample, at) => clear.writeUInt16BE(sample, at * 2));
  const { data } = decodePng(png(one, [chunk("tRNS", clear)]));
  expect(new Set(data)).toEqual(new Set([255]));
});

test.each([
  ["another grey", { kind: 0, depth: 16, samples: 1 }, [255]],
  ["another colour", { kind: 2, depth: 8, samples: 3 }, [0, 0, 1]],
  ["a colour cut short", { kind: 2, depth: 8, samples: 3 }, [0]],
])("ignores a transparent colour that is %s", (_what, one, color) => {
  const clear = Buffer.alloc(color.length * 2);
  color.forEach((sample, at) => clear.writeUInt16BE(sample, at * 2));
  expect(decodePng(png(one, [chunk("tRNS", clear)])).data).toEqual(decodePng(png(one)).data);
});

test.each([
  ["cut in its head", (bytes: Buffer) => bytes.subarray(0, 20), "damaged"],
  ["cut in its points", (bytes: Buffer) => bytes.subarray(0, 50), "damaged"],
  ["interlaced", (bytes: Buffer) => (bytes.writeUInt8(1, 28), bytes), "Save it without interlacing"],
  ["of a kind that there is not", (bytes: Buffer) => (bytes.writeUInt8(5, 25), bytes), "Save it without interlacing"],
  ["of more points than are read", (bytes: Buffer) => (bytes.writeUInt32BE(2 ** 31, 16), bytes), "more than"],
])("refuses a PNG that is %s", (_what, change, message) => {
  expect(() => decodePng(change(png({ kind: 0, depth: 8, samples: 1 })))).toThrow(message);
});
