// Writes an animation of still WebP pictures: a RIFF file whose frames contain the bitstreams of the stills.
// https://developers.google.com/speed/webp/docs/riff_container

/** Returns an endless animation. All frames have the size of the first one. */
export function animate(frames) {
  const { width, height } = sizeOf(frames[0].bytes);
  const header = Buffer.alloc(10);
  header[0] = 0x02;
  header.writeUIntLE(width - 1, 4, 3);
  header.writeUIntLE(height - 1, 7, 3);
  const parts = frames.map(({ bytes, milliseconds }) => {
    const head = Buffer.alloc(16);
    head.writeUIntLE(width - 1, 6, 3);
    head.writeUIntLE(height - 1, 9, 3);
    head.writeUIntLE(milliseconds, 12, 3);
    // The frame replaces the frame before it, without blending.
    head[15] = 0x02;
    return chunk("ANMF", Buffer.concat([head, bitstream(bytes)]));
  });
  const body = [Buffer.from("WEBP"), chunk("VP8X", header), chunk("ANIM", Buffer.alloc(6)), ...parts];
  return chunk("RIFF", Buffer.concat(body));
}

function chunk(name, data) {
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function* chunksOf(bytes) {
  for (let at = 12; at < bytes.length;) {
    const length = bytes.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    yield { name: bytes.toString("latin1", at, at + 4), bytes: bytes.subarray(at, end) };
    at = end;
  }
}

function bitstream(bytes) {
  return Buffer.concat(
    [...chunksOf(bytes)].filter(({ name }) => /^(?:ALPH|VP8[ L])$/.test(name)).map((one) => one.bytes),
  );
}

function sizeOf(bytes) {
  for (const { name, bytes: found } of chunksOf(bytes)) {
    if (name === "VP8X") return { width: found.readUIntLE(12, 3) + 1, height: found.readUIntLE(15, 3) + 1 };
    if (name === "VP8 ") return { width: found.readUInt16LE(14) & 0x3fff, height: found.readUInt16LE(16) & 0x3fff };
    if (name !== "VP8L") continue;
    const bits = found.readUInt32LE(9);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  throw new Error("The picture is not WebP.");
}
