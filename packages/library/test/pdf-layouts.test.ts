// Layouts of printed pages: the order of columns, initials, text that is drawn twice, and line numbers.
import PdfDocument from "pdfkit";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../test/support/random.ts";
import { readPdf } from "../src/documents/read-pdf.ts";

type Pdf = InstanceType<typeof PdfDocument>;
type Draw = (pdf: Pdf) => void;

async function read(draw: Draw) {
  const document = new PdfDocument({ size: "A4", margin: 50 });
  const parts: Buffer[] = [];
  document.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((done) => void document.on("end", () => done()));
  draw(document);
  document.end();
  await ended;
  const { blocks, warnings } = await readPdf(Buffer.concat(parts), {
    signal: AbortSignal.timeout(60_000),
    maxPages: 20,
  });
  return { text: blocks.map(({ text }) => text).join("\n"), warnings };
}

/** Draws a text at a place, from 50 points below the top. */
function put(pdf: Pdf, text: string, [x, row, size = 10]: readonly [x: number, row: number, size?: number]): void {
  pdf.fontSize(size).text(text, x, 100 + row * 13, { lineBreak: false });
}

const LINES = [
  "The theory of signs was founded by",
  "thinkers who asked what a sign is,",
  "and to whom it stands for an object",
  "that it has. It determines a second",
  "sign of the same object, which the",
  "series continues without an end, so",
  "that inquiry goes on until all who",
  "take part in it have come to agree",
  "upon what is real and what is not",
  "since it is only thought to be so.",
];
const WHOLE = LINES.join(" ");
const column = (at: number): string[] => LINES.map((line) => line.replaceAll(/\b(?=[a-z])/gi, `c${at}`).slice(0, 30));

describe("columns that are drawn row by row", () => {
  test.each([
    [2, 250],
    [3, 170],
    [4, 130],
  ])("%i columns are read one after the other", async (count, step) => {
    const columns = Array.from({ length: count }, (_, at) => column(at).map((line) => line.slice(0, 22)));
    const { text, warnings } = await read((pdf) => {
      for (const row of LINES.keys())
        for (const [at, lines] of columns.entries()) put(pdf, lines[row]!, [40 + at * step, row, 8]);
    });
    const expected = columns.flatMap((lines) => lines.map((line) => line.trim())).join(" ");
    expect(text.replaceAll(/\s+/g, " ")).toBe(expected);
    expect(warnings).toEqual([expect.stringMatching(/read column by column: 1\.$/)]);
  });

  test("a heading over three columns stays between the columns above and below it", async () => {
    const { text } = await read((pdf) => {
      for (const row of LINES.keys())
        for (const at of [0, 1, 2]) put(pdf, column(at)[row]!.slice(0, 22), [40 + at * 170, row, 8]);
      put(
        pdf,
        "A line over the full width of the page, above what follows it on the page, and below the rest.",
        [40, 12],
      );
      for (const row of LINES.keys())
        for (const at of [3, 4, 5]) put(pdf, column(at)[row]!.slice(0, 22), [40 + (at - 3) * 170, row + 14, 8]);
    });
    const places = ["c0The", "c1The", "c2The", "A line over", "c3The", "c4The", "c5The"].map((word) =>
      text.indexOf(word),
    );
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBe(0);
  });
});

describe("an initial joins its word", () => {
  const rest: Draw = (pdf) => {
    for (const [at, line] of LINES.slice(2).entries()) put(pdf, line, [50, at + 2]);
  };
  test.each<[string, Draw]>([
    [
      "that is drawn after it",
      (pdf) => {
        put(pdf, "T", [50, -0.15, 28]);
        put(pdf, "he theory of signs was founded by", [72, 0]);
        put(pdf, LINES[1]!, [72, 1]);
        rest(pdf);
      },
    ],
    [
      "that is drawn before it",
      (pdf) => {
        put(pdf, "he theory of signs was founded by", [72, 0]);
        put(pdf, LINES[1]!, [72, 1]);
        rest(pdf);
        put(pdf, "T", [50, -0.15, 28]);
      },
    ],
    [
      "with the whole page before it",
      (pdf) => {
        put(pdf, "he theory of signs was founded by", [72, 0]);
        put(pdf, LINES[1]!, [72, 1]);
        rest(pdf);
        put(pdf, "Another paragraph follows after it on the page.", [50, 20]);
        put(pdf, "T", [50, -0.15, 28]);
      },
    ],
    [
      "on the same line",
      (pdf) => {
        put(pdf, "T", [50, -1.2, 28]);
        put(pdf, "he theory of signs was founded by", [69, 0.2]);
        put(pdf, LINES[1]!, [50, 1.2]);
        rest(pdf);
      },
    ],
  ])("%s", async (_case, draw) => {
    const { text } = await read(draw);
    expect(text.replaceAll("\n", " ")).toContain(WHOLE);
    expect(text).not.toMatch(/(?:^|\s)(?:T|he)(?:\s|$)/);
  });
});

describe("text that is drawn twice is read once, with a warning", () => {
  const each =
    (draw: (pdf: Pdf, line: string, row: number) => void): Draw =>
    (pdf) => {
      for (const [row, line] of LINES.entries()) draw(pdf, line, row);
    };
  test.each<[string, Draw]>([
    ["each line", each((pdf, line, row) => [0, 0.4].forEach((dx) => put(pdf, line, [50 + dx, row])))],
    ["each line, lower", each((pdf, line, row) => [0, 0.03].forEach((dy) => put(pdf, line, [50, row + dy])))],
    ["three times", each((pdf, line, row) => [0, 0.3, 0.6].forEach((dx) => put(pdf, line, [50 + dx, row])))],
    [
      "the first word of each line",
      each((pdf, line, row) => {
        const [first = "", ...others] = line.split(" ");
        for (const dx of [0, 0.3]) put(pdf, first, [50 + dx, row]);
        put(pdf, others.join(" "), [50 + pdf.widthOfString(`${first} `), row]);
      }),
    ],
    [
      "one line",
      each((pdf, line, row) => (row === 4 ? [0, 0.4] : [0]).forEach((dx) => put(pdf, line, [50 + dx, row]))),
    ],
    [
      "the page as a whole",
      (pdf) => {
        for (const dx of [0, 0.5]) for (const [row, line] of LINES.entries()) put(pdf, line, [50 + dx, row]);
      },
    ],
    [
      "word by word",
      each((pdf, line, row) => {
        let x = 50;
        for (const word of line.split(" ")) {
          for (const dx of [0, 0.4]) put(pdf, word, [x + dx, row]);
          x += pdf.widthOfString(`${word} `);
        }
      }),
    ],
  ])("%s", async (_case, draw) => {
    const { text, warnings } = await read(draw);
    expect(text.replaceAll(/\s+/g, " ")).toContain(WHOLE);
    expect(warnings).toEqual([expect.stringMatching(/drawn twice, which was read once: 1\.$/)]);
  });

  test.each(["llama hall will fill all still", "1111 llll iiii ...... ,,,,", "WWW ooo eee ___ ---- ===="])(
    "equal letters next to one another stay: %s",
    async (line) => {
      expect(await read((pdf) => put(pdf, line, [50, 0, 9]))).toEqual({ text: line, warnings: [] });
    },
  );

  test.each(Array.from({ length: 8 }, (_, seed) => seed))(
    "words that are drawn twice at random (seed %i)",
    async (seed) => {
      const random = createRandom(seed);
      const { text } = await read((pdf) => {
        for (const [row, line] of LINES.entries()) {
          let x = 50;
          for (const word of line.split(" ")) {
            put(pdf, word, [x, row]);
            if (random.below(3) === 0) put(pdf, word, [x + random.pick([0, 0.2, 0.5]), row]);
            x += pdf.widthOfString(`${word} `);
          }
        }
      });
      expect(text.replaceAll(/\s+/g, " ")).toBe(WHOLE);
    },
  );
});

describe("line numbers in the margin are left out, with a warning", () => {
  const verses = [...LINES, ...LINES.map((line) => line.toUpperCase())];
  const numbered =
    (every: number, x: number, { first = 0, isAfter = false } = {}): Draw =>
    (pdf) => {
      const number = (row: number): void => {
        if ((first + row + 1) % every === 0) put(pdf, String(first + row + 1), [x, row, 8]);
      };
      for (const [row, line] of verses.entries()) {
        if (!isAfter) number(row);
        put(pdf, line, [90, row]);
        if (isAfter) number(row);
      }
    };
  test.each<[string, Draw]>([
    ["each line", numbered(1, 40)],
    ["every fifth line", numbered(5, 40)],
    ["every fifth line, on the right, before the line", numbered(5, 540)],
    ["every fifth line, on the right, after the line", numbered(5, 540, { isAfter: true })],
    ["every fifth line of a later page", numbered(5, 40, { first: 132 })],
    ["every tenth line", numbered(10, 40)],
  ])("of %s", async (_case, draw) => {
    const { text, warnings } = await read(draw);
    expect(text.replaceAll(/\s+/g, " ")).toBe(verses.join(" "));
    expect(warnings).toEqual([expect.stringMatching(/line numbers in the margin, which were left out: 1\.$/)]);
  });

  test.each<[string, readonly string[]]>([
    ["years of a list", ["1839", "1867", "1878", "1905", "1914"]],
    ["numbers of each row of a table", ["5", "10", "15", "20", "25"].slice(0, 4)],
    ["one number", ["10"]],
  ])("%s stay", async (_case, numbers) => {
    const { text } = await read((pdf) => {
      for (const [row, number] of numbers.entries()) {
        put(pdf, number, [50, row]);
        put(pdf, LINES[row]!, [90, row]);
      }
    });
    for (const number of numbers) expect(text).toMatch(new RegExp(String.raw`(?:^|\s)${number}\s`));
  });
});

test("a number at the right margin before its line is a word of its own", async () => {
  const { text } = await read((pdf) => {
    put(pdf, "12", [540, 0]);
    put(pdf, "words of a line", [50, 0]);
  });
  expect(text).toBe("12 words of a line");
});
