/** An image in a form that PDF can store. */
export interface PdfImage {
  /** Distance from the left edge of the page, in pixels. */
  readonly x: number;
  /** Distance from the lower edge of the page, in pixels. */
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Entries of the image's dictionary that describe its data, such as the colour space and the filter. */
  readonly entries: string;
  readonly data: Uint8Array;
}

interface ImagePage {
  /** Width and height in pixels. */
  readonly width: number;
  readonly height: number;
  /** Clockwise rotation for display, in degrees. */
  readonly turn: number;
  readonly images: readonly PdfImage[];
}

/** Writes a PDF with pages of images, because the PDF reader can decode them. The data of the images is copied. */
export function pdfOfImages(pages: readonly ImagePage[]): Uint8Array {
  const objects: Buffer[] = [];
  const add = (object: Buffer): number => objects.push(object);
  add(ascii("<< /Type /Catalog /Pages 2 0 R >>"));
  // Object 2, the page tree, is filled in below: the numbers of the pages are known only after their images were added.
  add(ascii(""));
  const kids = pages.map(({ width, height, turn, images }) => {
    const numbers = images.map((image) => add(objectOf(image)));
    const content = add(streamOf("", ascii(images.map(paintOf).join("\n"))));
    const names = numbers.map((number, at) => `/I${at} ${number} 0 R`).join(" ");
    const page =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${turn} ` +
      `/Contents ${content} 0 R /Resources << /XObject << ${names} >> >> >>`;
    return add(ascii(page));
  });
  objects[1] = ascii(`<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] /Count ${kids.length} >>`);
  const numbered = objects.flatMap((object, at) => [ascii(`${at + 1} 0 obj\n`), object, ascii("\nendobj\n")]);
  const trailer = ascii(`trailer << /Size ${objects.length + 1} /Root 1 0 R >>\n%%EOF`);
  return Buffer.concat([ascii("%PDF-1.7\n"), ...numbered, trailer]);
}

function objectOf({ width, height, entries, data }: PdfImage): Buffer {
  return streamOf(`/Type /XObject /Subtype /Image /Width ${width} /Height ${height} ${entries} `, data);
}

function paintOf({ x, y, width, height }: PdfImage, at: number): string {
  return `q ${width} 0 0 ${height} ${x} ${y} cm /I${at} Do Q`;
}

function streamOf(entries: string, data: Uint8Array): Buffer {
  return Buffer.concat([ascii(`<< ${entries}/Length ${data.length} >>\nstream\n`), data, ascii("\nendstream")]);
}

function ascii(text: string): Buffer {
  return Buffer.from(text, "latin1");
}
