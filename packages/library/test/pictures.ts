export interface Picture {
  /** Entries of the image's dictionary: colours, bits, filters. */
  readonly entries: string;
  readonly data: Buffer;
  /** Height in pixels. @default 3 */
  readonly height?: number;
  /** Object 6: a second image. */
  readonly more?: Picture;
}

const WIDTH = 4;
const HEIGHT = 3;

interface PdfOptions {
  /** Image with the name `/I`, 4 pixels wide. */
  readonly picture: Picture;
  /** Content stream. @default the image over the whole page */
  readonly content?: string;
  readonly box?: readonly [number, number, number, number];
  readonly rotate?: number;
}

/** A PDF of one page, byte by byte, for constructs that real files contain and no PDF library writes. */
export function pdfOf({
  picture,
  content = `q ${WIDTH} 0 0 ${HEIGHT} 0 0 cm /I Do Q`,
  box = [0, 0, WIDTH, HEIGHT],
  rotate = 0,
}: PdfOptions): Buffer {
  const resources = "/XObject << /I 5 0 R /J 6 0 R >> /Font << /F 7 0 R >>";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [${box.join(" ")}] /Rotate ${rotate} /Contents 4 0 R ` +
      `/Resources << ${resources} >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    imageOf(picture),
    imageOf(picture.more ?? picture),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  const parts = objects.flatMap((object, at) => [
    Buffer.from(`${at + 1} 0 obj\n`),
    own(object),
    Buffer.from("\nendobj\n"),
  ]);
  return Buffer.concat([Buffer.from("%PDF-1.7\n"), ...parts, Buffer.from("trailer << /Size 8 /Root 1 0 R >>\n%%EOF")]);
}

function own(object: string | Buffer): Buffer {
  return typeof object === "string" ? Buffer.from(object, "latin1") : object;
}

function imageOf({ entries, data, height = HEIGHT }: Picture): Buffer {
  const head =
    `<< /Type /XObject /Subtype /Image /Width ${WIDTH} /Height ${height} ${entries} ` +
    `/Length ${data.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), data, Buffer.from("\nendstream")]);
}

/**
 * Images written by Pillow 13: 16 by 16 pixels, the left half black. The last image has an orientation of 90 degrees.
 */
export const JPEGS = {
  gray:
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO" +
    "UlNSMj5aYVpQYEpRUk//wgALCAAQABABAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABwb/2gAIAQEAAAABl08wT//EABQQAQAAAAAA" +
    "AAAAAAAAAAAAACD/2gAIAQEAAQUCH//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEABj8CH//EABQQAQAAAAAAAAAAAAAAAAAA" +
    "ACD/2gAIAQEAAT8hH//aAAgBAQAAABCv/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQABPxAf/9k=",
  colours:
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO" +
    "UlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P" +
    "T09PT09PT0//wgARCAAQABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAABwb/xAAUAQEAAAAAAAAAAAAAAAAAAAAA/9oA" +
    "DAMBAAIQAxAAAAGXTzBPP//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEAAQUCH//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAI" +
    "AQMBAT8Bf//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQIBAT8Bf//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEABj8CH//E" +
    "ABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEAAT8hH//aAAwDAQACAAMAAAAQo//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQMB" +
    "AT8Qf//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQIBAT8Qf//EABQQAQAAAAAAAAAAAAAAAAAAACD/2gAIAQEAAT8QH//Z",
  inks:
    "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJT" +
    "UjI+WmFaUGBKUVJP/8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIB" +
    "AwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZH" +
    "SElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV" +
    "1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwDzCvMK8wr06vp2vp2vp2ivmKvmKvmKivp2vp2vp2iv/9k=",
  turned:
    "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAA0JCgsKCA0LCgsODg0P" +
    "EyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//wAALCAAQABABAREA/8QAHwAAAQUBAQEB" +
    "AQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAk" +
    "M2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKj" +
    "pKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APMK+na+Yq+na//Z",
} as const;
