import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import PdfDocument from "pdfkit";

/** A test text that attributes Peirce's known positions to him in other words than his own. */
export const CLEAR_IDEAS = `---
title: On Clear Ideas
author: Peirce, Charles Sanders
year: 1878
---
# On Clear Ideas

## Clearness

A notion is clear when nobody takes another for it. Old books on logic tell clear notions from obscure ones, and stop.

## Truth

What all who look into a matter would agree upon in the end is the truth, and what that agreement is about is real.
Nominalism denies that anything general is real; whoever asks what a law of nature is has to answer it.
`;

export const OEUVRE = `---
title: L'œuvre et le réel
author: Claire Fontaine
language: fr
---
# L'œuvre et le réel

Le nominalisme soutient que seuls les individus existent. Les généraux ne sont que des noms, et l’œuvre de la pensée
consiste à les employer sans s'y tromper. Cette thèse a été discutée pendant plusieurs siècles par les philosophes.
`;

export interface PdfPage {
  readonly heading?: string;
  readonly paragraphs: readonly string[];
}

export interface PdfOptions {
  readonly title?: string;
  readonly author?: string;
  readonly password?: string;
  /** The running head of every page; the page number is printed at the bottom. */
  readonly running?: string;
}

/** Writes a PDF as programs that set books do. */
export async function writePdf(path: string, pages: readonly PdfPage[], options: PdfOptions = {}): Promise<void> {
  const { title, author, password, running } = options;
  const document = new PdfDocument({
    autoFirstPage: false,
    info: { ...(title !== undefined && { Title: title }), ...(author !== undefined && { Author: author }) },
    ...(password !== undefined && { userPassword: password }),
  });
  const file = document.pipe(createWriteStream(path));
  for (const [at, { heading, paragraphs }] of pages.entries()) {
    document.addPage({ size: "A5", margins: { top: 60, bottom: 60, left: 50, right: 50 } });
    if (running !== undefined) {
      document.fontSize(8).text(running, 50, 20, { lineBreak: false });
      document.page.margins.bottom = 0;
      document.text(String(at + 1), 200, document.page.height - 25, { lineBreak: false });
      document.page.margins.bottom = 60;
    }
    document.y = 60;
    if (heading !== undefined) document.fontSize(18).text(heading, 50).moveDown();
    for (const paragraph of paragraphs) document.fontSize(10).text(paragraph, 50).moveDown();
  }
  document.end();
  await finished(file);
}
